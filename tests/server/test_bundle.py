"""The page in the package is the one that its sources make."""

import hashlib
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PAGE = ROOT / "src" / "tidemill" / "server" / "page"
PARTS = ("index.html", "package-lock.json", "public", "src", "vite.config.ts")


def _files(path: Path) -> list[Path]:
    return [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]


def test_the_page_in_the_package_is_built_from_these_sources():
    """`make web` builds it anew, after checking its types and running its tests."""
    found = hashlib.sha256()
    files = [each for part in PARTS for each in _files(WEB / part)]
    for name in sorted(each.relative_to(WEB).as_posix() for each in files):
        found.update(f"{name}\n".encode() + (WEB / name).read_bytes())
    assert (PAGE / "sources.sha256").read_text().strip() == found.hexdigest()


def test_the_types_of_the_page_are_those_of_the_wire():
    """`python web/write_types.py` writes them anew."""
    written = runpy.run_path(str(WEB / "write_types.py"))
    assert written["TYPES"].read_text("utf-8") == written["typescript"]()


def test_the_page_asks_nobody_else_for_anything():
    page = (PAGE / "index.html").read_text()
    assert "http" not in page
    assert 'src="./assets/' in page
