"""The docs as a site: its links lead somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("mkdocs")
LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=\"?(https?:[^\s\">]+)")


@pytest.mark.slow
def test_the_site_is_whole_and_needs_no_network(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    place = ["--config-file", str(ROOT / "site" / "mkdocs.yml"), "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([*build, *place], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    pages = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    assert len(pages) > 40
    assert not [found for text in pages.values() for found in LOADED.findall(text)]
    reference = (tmp_path / "api" / "engine.html").read_text("utf-8")
    for member in ("Engine.stream", "Engine.run", "Query.collect", "Query.to_spark"):
        assert re.search(rf'id="?tidemill\.[\w.]*{member}\b', reference), member


def test_every_page_has_its_place_on_the_site() -> None:
    text = (ROOT / "site" / "mkdocs.yml").read_text("utf-8")
    listed = re.findall(r"- ([\w-]+\.md)$", text, re.MULTILINE)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert sorted(listed) == sorted({*pages, "index.md"})
