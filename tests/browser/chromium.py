"""The browser that the tests drive."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def chromium() -> str:
    """Return the path of the Chromium that is installed, or say how to install one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise RuntimeError(
            "no Chromium on the path; install one, on Debian with: apt-get install -y chromium"
        )
    return found
