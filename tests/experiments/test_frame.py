"""Pages of results, and that those that are kept are whole."""

import re
from pathlib import Path

import pytest

from experiments.frame import QUICK_RESULTS, RESULTS, Options, Page, options

README = RESULTS.parent / "README.md"


def test_page_of_words_and_tables(tmp_path: Path) -> None:
    page = Page("trial", "A trial", Options(True, tmp_path))
    page.section("First")
    page.words("Lines are\n    joined.")
    page.table(["name", "cost"], [("a", 16000), ("b", 1.5), ("c", None)])
    page.write()
    text = (tmp_path / "trial.md").read_text("utf-8")
    assert text.startswith("# A trial\n\nPython")
    assert "This was a quick run" in text
    rows = "| name | cost |\n| --- | --: |\n| a | 16,000 |\n| b | 1.5 |\n| c |  |"
    assert text.endswith(f"## First\n\nLines are joined.\n\n{rows}\n")


def test_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = Page("trial", "A trial", Options(False, tmp_path))
    with page.picture("lines", axes=2) as (left, right):
        left.plot([1, 2], [3, 4], label="up")
        right.plot([1, 2], [4, 3])
    page.write()
    assert (tmp_path / "lines.png").stat().st_size > 1000
    assert "![lines](lines.png)" in (tmp_path / "trial.md").read_text("utf-8")


def test_a_trial_does_not_replace_the_results() -> None:
    assert options("", []) == Options(False, RESULTS)
    assert options("", ["--quick"]) == Options(True, QUICK_RESULTS)
    assert options("", ["--quick", "--out", "here"]).out == Path("here")


@pytest.mark.parametrize("page", re.findall(r"\(results/(\w+)\.md\)", README.read_text("utf-8")))
def test_results_are_kept_with_small_pictures(page: str) -> None:
    text = (RESULTS / f"{page}.md").read_text("utf-8")
    assert "quick run" not in text
    pictures = re.findall(r"\((\w+\.png)\)", text)
    assert pictures
    assert all((RESULTS / name).stat().st_size < 100_000 for name in pictures)
    assert (RESULTS.parent / f"{page}.py").exists()
