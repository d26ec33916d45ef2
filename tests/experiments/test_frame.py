"""Pages of results, and that those that are kept are whole."""

import re
from pathlib import Path

import pytest

from experiments.frame import QUICK_RESULTS, RESULTS, Options, Page, options
from experiments.index import write_index
from experiments.pages import experiments
from experiments.printed import printed

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


def test_the_numbers_of_the_texts_are_beside_ours() -> None:
    for each in printed():
        for number in (each.value(RESULTS), each.ours.read(RESULTS)):
            assert re.fullmatch(r"[\d,.]+(e-\d+)?", number), each


def test_the_index_shows_every_page(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it")
    for page in RESULTS.glob("*.md"):
        (tmp_path / page.name).write_bytes(page.read_bytes())
    kept = (RESULTS / "index.html").read_text("utf-8")
    (tmp_path / "times.json").write_text('{"star_figure2": 90}', "utf-8")
    text = write_index(tmp_path).read_text("utf-8")
    for each in experiments():
        assert f'<section id="{each.name}">' in text
        assert f'href="#{each.name}"' in kept
    assert '<td class="number">1.5</td>' in text
    pictures = re.findall(r'<img src="([^"]+)"', kept)
    assert pictures
    assert all((RESULTS / picture).exists() for picture in pictures)
