"""The browser, as for the pages."""

from tests.browser.conftest import browser, visit

__all__ = ["browser", "visit"]
