"""One page of all experiments: the texts' numbers beside ours, then all pages with pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path

from experiments.pages import Experiment, experiments
from experiments.printed import Printed, printed

TIMES = "times.json"

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem }
th, td { border-bottom: 1px solid #ddd; padding: 0.2rem 0.7rem; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100% }
"""


def write_index(folder: Path) -> Path:
    """Write the page for the results of a folder."""
    path = folder / "index.html"
    path.write_text("\n".join(_lines(folder)) + "\n", "utf-8")
    return path


def _lines(folder: Path) -> Iterator[str]:
    done = [each for each in experiments() if (folder / f"{each.name}.md").exists()]
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><title>Experiments of the texts</title>'
    yield f"<style>{STYLE}</style></head><body>"
    yield "<h1>Experiments of the texts</h1>"
    yield from _contents(done, _times(folder))
    yield from _numbers(folder, {each.name for each in done})
    for each in done:
        yield f'<section id="{each.name}">{_rendered(folder / f"{each.name}.md")}</section>'
    yield "</body></html>"


def _times(folder: Path) -> Mapping[str, float]:
    """How many seconds each experiment took, of those of which that is known."""
    path = folder / TIMES
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _contents(done: list[Experiment], times: Mapping[str, float]) -> Iterator[str]:
    yield "<table><thead><tr><th>text</th><th>experiment</th><th>minutes</th></tr></thead><tbody>"
    last = ""
    for each in done:
        minutes = f"{times[each.name] / 60:.1f}" if each.name in times else ""
        link = f'<a href="#{each.name}">{escape(each.title)}</a>'
        yield _row(escape("" if each.paper == last else each.paper.replace("*", "")), link, minutes)
        last = each.paper
    yield "</tbody></table>"


def _numbers(folder: Path, done: set[str]) -> Iterator[str]:
    yield "<h2>What the texts print in numbers, and ours</h2>"
    yield (
        "<p>Most figures of the texts are pictures; they are compared in words below. Where a text "
        "leaves open what it has measured (Tables 1 and 2 of the top-k text, Figure 4 of the star "
        "joins), the reading is used that comes nearest: it was chosen after the fact.</p>"
    )
    yield "<table><thead><tr><th>where</th><th>what</th><th>the text</th><th>ours</th></tr></thead>"
    yield "<tbody>"
    for each in printed():
        if each.ours.page in done:
            with suppress(LookupError):  # a quick run leaves out rows
                yield _compared(each, folder)
    yield "</tbody></table>"


def _compared(each: Printed, folder: Path) -> str:
    place = f'<a href="#{each.ours.page}">{escape(each.place)}</a>'
    return _row(place, escape(each.what), each.value(folder), each.ours.read(folder))


def _row(place: str, what: str, *numbers: str) -> str:
    cells = "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
    return f"<tr><td>{place}</td><td>{what}</td>{cells}</tr>"


def _rendered(page: Path) -> str:
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(page.read_text("utf-8"))
    return re.sub(r'href="(\w+)\.md"', r'href="#\1"', html)
