"""The static site, as files."""

import dataclasses
import shutil

import pytest

from app.export import MARK, export
from plates.plate import find_plates

PLATES = find_plates()


def tree(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder written by an export, to be copied or read."""
    out = tmp_path_factory.mktemp("exported") / "site"
    export(PLATES, out)
    return out


@pytest.fixture
def site(exported, tmp_path):
    """An export of the test's own, to be changed."""
    return shutil.copytree(exported, tmp_path / "site")


def test_exporting_twice_gives_the_same_bytes(exported, tmp_path):
    export(PLATES, tmp_path / "other")
    assert tree(exported) == tree(tmp_path / "other")


def test_an_export_replaces_an_export_and_leaves_nothing_aside(site, tmp_path):
    old = tree(site)
    plates = {"kernel-fusion": dataclasses.replace(PLATES["kernel-fusion"], readout="{speedup}")}
    export(plates, site)
    new = tree(site)
    assert len(new) == len(old)
    assert new.keys() != old.keys()
    assert [it.name for it in tmp_path.iterdir()] == ["site"]


def test_a_folder_of_something_else_is_left_alone_unless_forced(tmp_path):
    (tmp_path / "thesis.tex").write_text("ten years of work")
    with pytest.raises(FileExistsError, match=r"holds thesis\.tex, which no export wrote"):
        export(PLATES, tmp_path)
    assert tree(tmp_path) == {"thesis.tex": b"ten years of work"}


def test_what_others_put_into_an_export_is_left_alone_too(site):
    (site / "CNAME").write_text("plates.example")
    with pytest.raises(FileExistsError, match="CNAME"):
        export(PLATES, site)
    assert (site / "CNAME").exists()


def test_through_a_link_the_folder_behind_it_is_written(tmp_path):
    (tmp_path / "behind").mkdir()
    (tmp_path / "link").symlink_to("behind")
    export(PLATES, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "behind" / "index.html").exists()


def test_force_replaces_it(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "note.txt").write_text("gone")
    export(PLATES, out, force=True)
    assert not (out / "note.txt").exists()
    assert (out / MARK).exists()


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "site").write_text("a file")
    with pytest.raises(OSError, match="site"):
        export(PLATES, tmp_path / "site")
    assert (tmp_path / "site").read_text() == "a file"


def test_no_page_names_another_host(exported):
    for name, content in tree(exported).items():
        if name.endswith((".html", ".css")) and name != "kernel-fusion.html":
            assert b"{{" not in content, name
            assert b"http" not in content.replace(b"http-equiv", b""), name
