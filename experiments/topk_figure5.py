"""Haghani and others, Figure 5: memory and precision over the window and over ξ."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.ranking.compare import HEADS, Pair, Reading
from experiments.ranking.evaluate import Question

LIMIT = 10
WINDOWS = (200, 400, 700, 1000, 1500, 2000)
XIS = (0.1, 0.3, 0.5, 0.7, 0.9)
XI_WINDOWS = (500, 1000)
# The reading that comes nearest to the text: see topk_setting.
READING = Reading("W/2 rows, C = 167", 0.5, 167)


def main() -> None:
    asked = options(__doc__)
    scale = 5 if asked.quick else 1
    page = Page("topk_figure5", "Figure 5: memory and precision", asked)
    page.words(
        f"""Generated data, k = {LIMIT}; {READING.name}, which [comes nearest to the
        text](topk_setting.md). SLA keeps all rows of the window. Sizes are instances, precision is
        the share of the true first {LIMIT} that is found; means of 50 evaluations, every row a tick
        of its own."""
    )
    page.section("(a), (b): the window; three streams, ξ = 0.5")
    pairs = [READING.pair(Question(3, window // scale, LIMIT)) for window in WINDOWS]
    page.table(["W", *HEADS], [[w, *pair.cells] for w, pair in zip(WINDOWS, pairs, strict=True)])
    with page.picture("topk_figure5_window", axes=2) as (memory, precision):
        memory.plot(WINDOWS, [READING.rows * w for w in WINDOWS], color=COLOURS[6], label="SLA")
        _draw(memory, precision, WINDOWS, {"": pairs}, "window W")
    page.section("(c), (d): ξ; two streams")
    by_xi = {
        f", W = {w}": [READING.pair(Question(2, w // scale, LIMIT), xi) for xi in XIS]
        for w in XI_WINDOWS
    }
    rows = [
        [w, xi, *pair.cells]
        for w, pairs in zip(XI_WINDOWS, by_xi.values(), strict=True)
        for xi, pair in zip(XIS, pairs, strict=True)
    ]
    page.table(["W", "ξ", *HEADS], rows)
    with page.picture("topk_figure5_xi", axes=2) as (memory, precision):
        _draw(memory, precision, XIS, by_xi, "ξ")
    page.write()


def _draw(
    memory: Any, precision: Any, at: Sequence[float], curves: Mapping[str, Sequence[Pair]], x: str
) -> None:
    """Sizes of both algorithms on the left, how good the approximate one is on the right."""
    for (name, pairs), line in zip(curves.items(), ("o-", "s--"), strict=False):
        exact, own = (COLOURS[0], COLOURS[1])
        memory.plot(at, [pair.exact.size for pair in pairs], line, color=exact, label=f"EAA{name}")
        sizes = [pair.approximate.size for pair in pairs]
        memory.plot(at, sizes, line, color=own, label=f"approximate{name}")
        precisions = [pair.approximate.precision for pair in pairs]
        precision.plot(at, precisions, line, color=own, label=f"approximate{name}")
    memory.set_title("kept: instances, rows of SLA", loc="left", fontsize=10)
    precision.set_title("precision", loc="left", fontsize=10)
    precision.set_ylim(0, 1.05)
    for axes in (memory, precision):
        axes.set_xlabel(x)


if __name__ == "__main__":
    main()
