"""The plates as static files: a site whose pages share their assets, and one file a plate."""

import tempfile
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from app.page import embed_script, index, page, scripts, style
from plates.plate import Plate

MARK = ".plates-export"
"""A file that tells a folder written by `export` from any other, and lists what was written."""


def export(plates: Mapping[str, Plate], out: Path, *, force: bool = False) -> None:
    """Write the static site to the folder `out`, whole or not at all.

    Raises
    ------
    OSError
        If `out` holds what no export wrote and `force` is not given, or if it cannot be written.
    """
    out = out.resolve()
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is not a folder")
    if not force and (foreign := _foreign(out)):
        raise FileExistsError(f"{out} holds {foreign}, which no export wrote; --force replaces it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".plates-") as aside:
        site, before = Path(aside) / "site", Path(aside) / "before"
        for name, text in _site(plates).items():
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        if out.exists():
            out.rename(before)
        try:
            site.rename(out)
        except OSError:
            if before.exists():
                before.rename(out)
            raise


def _foreign(out: Path) -> str | None:
    """Return the name of something in the folder that no export wrote, if there is any."""
    mark = out / MARK
    written = mark.read_text(encoding="utf-8").splitlines() if mark.exists() else []
    there = (str(it.relative_to(out)) for it in sorted(out.rglob("*")) if not it.is_dir())
    return next((name for name in there if name not in written), None)


def _site(plates: Mapping[str, Plate]) -> dict[str, str]:
    """Return the text of each file by its name."""
    assets = {it.name: it.text for it in (*chain(*map(scripts, plates.values())), style())}
    link = {name: f"assets/{name}" for name in assets}
    above = {name: f"../{it}" for name, it in link.items()}
    files = {link[name]: text for name, text in assets.items()}
    for name, plate in plates.items():
        files[f"{name}/index.html"] = page(plate, above, embed="../embed.js", measure="measure/")
        files[f"{name}.html"] = page(plate, None)
        files |= plate.scripts
    files |= {"index.html": index(plates, "{}/", link), "embed.js": embed_script()}
    return files | {MARK: "\n".join([*files, MARK])}
