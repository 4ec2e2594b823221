"""The plates as static files: a site whose pages share their assets, and one file a plate."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.page import embed_script, index, page, scripts, style
from plates.plate import Plate

MARK = ".plates-export"
"""A file that tells a folder written by `export` from any other."""


def export(plates: Mapping[str, Plate], out: Path, *, force: bool = False) -> None:
    """Write the static site to the folder `out`, whole or not at all.

    Raises
    ------
    OSError
        If `out` exists, was not written by an export and `force` is not given, or if it cannot be
        written.
    """
    if out.exists() and any(out.iterdir()) and not (out / MARK).exists() and not force:
        raise FileExistsError(f"{out} was not written by an export; --force replaces it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".plates-") as aside:
        site = Path(aside) / "site"
        for name, text in _site(plates).items():
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        if out.exists():
            shutil.move(out, Path(aside) / "before")
        site.rename(out)


def _site(plates: Mapping[str, Plate]) -> dict[str, str]:
    assets = {asset.name: asset.text for plate in plates.values() for asset in scripts(plate)}
    assets[style().name] = style().text
    files = {f"assets/{name}": text for name, text in assets.items()}
    for name, plate in plates.items():
        files[f"{name}/index.html"] = page(
            plate, {it: f"../assets/{it}" for it in assets}, embed="../embed.js"
        )
        files[f"{name}.html"] = page(plate, None)
    files["index.html"] = index(plates, "{}/", {it: f"assets/{it}" for it in assets})
    files["embed.js"] = embed_script()
    files[MARK] = ""
    return files
