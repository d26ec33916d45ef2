"""Figures 14.1 to 14.8: time intervals against positive and negative elements."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.signs import words
from experiments.signs.compare import STYLES, Comparison, Line
from experiments.signs.counted import RATE, delay, known, known_to_us
from experiments.signs.house import House, generated
from experiments.signs.measure import KITS
from experiments.signs.plans import (
    HOUR,
    MINUTE,
    QUERIES,
    Build,
    q1,
    q2,
    q3,
    q3_nested,
    q4,
    q4_coalesced,
    q4_recomputed,
    q5,
    q5_join_first,
    q6,
    q7,
    window_of_bids,
)
from tidemill.nexmark.queries import QUERIES as TITLES

INTERVALS, SIGNS = KITS
TICKS = 20
WINDOWS = (1, 10, 50, 100)


def main() -> None:
    asked = options(__doc__)
    bids, repetitions = (10_000, 1) if asked.quick else (100_000, 3)
    page = Page("signs_figures", "Figures 14.1 to 14.8: intervals against signs", asked)
    with TemporaryDirectory() as folder:
        house = generated(Path(folder), bids, TICKS)
    arrivals = house.arrivals()
    page.words(
        f"""The auction house of the benchmark: {bids:,} bids and all that belongs to them,
        {len(arrivals):,} rows. *Intervals*: a row carries the time in which it holds, and operators
        follow Algorithms 2 to 14. *Signs*: a row is sent when it comes and once more when it goes.
        Both are written in plain Python, row by row, on the same dictionaries, lists and heaps and
        for the same plans; rows are pushed as fast as possible in the order of their time.
        *Columnar*: our own operators for the same query, the rows in {TICKS} ticks. Seconds are
        those of one core; of {repetitions} runs the one in the middle."""
    )
    compared = Comparison(arrivals, repetitions)
    _run_times(page, compared, house)
    _stateless(page, compared)
    _windows(page, compared)
    _short_auctions(page, compared)
    _highest_bid(page, compared)
    _closing_price(page, compared)
    _memory(page, compared)
    _count_windows(page)
    page.write()


def _run_times(page: Page, compared: Comparison, house: House) -> None:
    page.section("Figure 14.1: run times")
    rows, lags, heights = [], [], []
    for name, build in QUERIES.items():
        both = [compared.seconds(approach, build) for approach in KITS]
        columnar = sorted(house.seconds(name) for _ in range(compared.repetitions))
        heights.append([*both, columnar[len(columnar) // 2]])
        answers, late = zip(*(compared.answer(approach, build) for approach in KITS), strict=True)
        if not answers[0] == answers[1] == house.changes(name):
            raise SystemExit(f"error: the answers to {name} differ")
        rows.append([f"{name} {TITLES[name].title}", *heights[-1], both[1] / both[0]])
        at_the_end = [100 * compared.given_at_the_end(approach, build) for approach in KITS]
        lags.append([f"{name} {TITLES[name].title}", *late, *at_the_end])
    with page.picture("signs_figure1") as axes:
        for number, label in enumerate(STYLES):
            places = [place + (number - 1) / 4 for place in range(len(rows))]
            values = [each[number] for each in heights]
            axes.bar(places, values, 1 / 4, color=STYLES[label], label=label)
        axes.set_xticks(range(len(rows)), list(QUERIES))
        axes.set_yscale("log")
        axes.set_ylabel("seconds of one core")
    page.table(["query", *STYLES, "signs / intervals"], rows)
    page.words(words.RUN_TIMES)
    page.section("Latency")
    page.table(
        [
            "query",
            "intervals: mean delay, s",
            "signs: mean delay, s",
            "intervals: only at the end, %",
            "signs: only at the end, %",
        ],
        lags,
    )
    page.words(words.LATENCY)


def _stateless(page: Page, compared: Comparison) -> None:
    page.section("Figures 14.2 and 14.3: queries without memory")
    with page.picture("signs_figure2", axes=2) as both:
        for axes, build, title in zip(both, (q1, q2), ("q1 currency", "q2 selection"), strict=True):
            compared.draw_results(axes, _lines(("", build, "-")))
            axes.set_title(title, loc="left", fontsize=10)
    page.words(words.STATELESS)


def _windows(page: Page, compared: Comparison) -> None:
    page.section("Figure 14.4: what a time-based window remembers")
    sizes = {"now": 1, "10 minutes": 10 * MINUTE, "5 hours": 5 * HOUR}
    rows = []
    with page.picture("signs_figure4") as axes:
        for number, (label, size) in enumerate(sizes.items()):
            build = window_of_bids(size)
            points = compared.points(SIGNS, build)[:-1]
            days = [(point.at - points[0].at) / 86_400e6 for point in points]
            held = [point.held for point in points]
            axes.plot(days, held, color=COLOURS[number], label=label)
            rows.append(
                [label, compared.mean_held(INTERVALS, build), compared.mean_held(SIGNS, build)]
            )
        axes.set_yscale("symlog", linthresh=10)
        axes.set_xlabel("days of the stream")
        axes.set_ylabel("elements in the window of signs")
    page.table(["window", "intervals: elements, mean", "signs: elements, mean"], rows)
    page.words(words.WINDOWS_REMEMBER)


def _short_auctions(page: Page, compared: Comparison) -> None:
    page.section("Figure 14.5: short auctions (q3)")
    with page.picture("signs_figure5", axes=2) as both:
        for axes, build, title in zip(
            both, (q3, q3_nested), ("hash join", "nested loops"), strict=True
        ):
            compared.draw_results(axes, _lines(("", build, "-")))
            axes.set_title(title, loc="left", fontsize=10)
    page.table(
        ["join", "intervals", "signs", "signs / intervals"],
        _ratios(compared, hash=q3, nested_loops=q3_nested),
    )
    page.words(words.SHORT_AUCTIONS)


def _highest_bid(page: Page, compared: Comparison) -> None:
    page.section("Figure 14.6: highest bid (q4)")
    blue, red, green, pink = COLOURS[:4]
    lines = [
        ("intervals", INTERVALS, q4, blue, "-"),
        ("intervals, coalesced", INTERVALS, q4_coalesced, green, "-"),
        ("signs, ordered", SIGNS, q4, red, "-"),
        ("signs, recomputed", SIGNS, q4_recomputed, pink, "-"),
    ]
    with page.picture("signs_figure6") as axes:
        compared.draw_results(axes, lines)
    page.table(
        ["plan", "seconds", "results"],
        [
            [label, points[-1].seconds, points[-1].results]
            for label, approach, build, *_ in lines
            for points in [compared.points(approach, build)]
        ],
    )
    page.words(words.HIGHEST_BID)


def _closing_price(page: Page, compared: Comparison) -> None:
    page.section("Figure 14.7: closing price (q5)")
    with page.picture("signs_figure7") as axes:
        lines = _lines((", grouped first", q5, "-"), (", joined first", q5_join_first, "--"))
        compared.draw_results(axes, lines)
    page.table(
        ["plan", "intervals", "signs", "signs / intervals"],
        _ratios(compared, grouped_first=q5, joined_first=q5_join_first),
    )
    page.words(words.CLOSING_PRICE)


def _memory(page: Page, compared: Comparison) -> None:
    page.section("Memory of joins and aggregates")
    shown = {"q4 highest bid": q4, "q5 closing price": q5}
    others = {"q3 short auctions": q3, "q6 hot item": q6, "q7 average by seller": q7}
    with page.picture("signs_memory", axes=2) as drawn:
        for axes, (title, build) in zip(drawn, shown.items(), strict=True):
            compared.draw_held(axes, build)
            axes.set_title(title, loc="left", fontsize=10)
        drawn[0].set_ylabel("elements held by the plan")
    page.table(
        ["query", "intervals: elements, mean", "signs: elements, mean"],
        [
            [title, *(compared.mean_held(approach, build) for approach in KITS)]
            for title, build in {**shown, **others}.items()
        ],
    )
    page.words(words.MEMORY)


def _count_windows(page: Page) -> None:
    page.section("Figure 14.8: count-based windows")
    rows = []
    with page.picture("signs_figure8") as axes:
        _draw_known(axes, known(SIGNS, WINDOWS[0]), "signs, any window", "black")
        for number, size in enumerate(WINDOWS):
            _draw_known(axes, known(INTERVALS, size), f"intervals, {size} rows", COLOURS[number])
            delays = [delay(known(approach, size)) for approach in KITS]
            rows.append([size, *delays, delay(known_to_us(size))])
        axes.set_xlim(0, 5)
        axes.set_ylim(0, 5 * RATE)
        axes.set_xlabel("seconds of the stream")
        axes.set_ylabel("rows that are known")
    columns = ["intervals: delay, s", "signs: delay, s", "columnar: delay, s"]
    page.table(["rows in the window", *columns], rows)
    page.words(words.COUNT_WINDOWS)


def _draw_known(axes: Any, rows: list[tuple[float, float]], label: str, colour: str) -> None:
    axes.plot([given for given, _ in rows], range(1, len(rows) + 1), color=colour, label=label)


def _lines(*plans: tuple[str, Build, str]) -> list[Line]:
    """A line for each approach and plan: what its label ends with, the plan, and its style."""
    return [
        (approach + ending, approach, build, STYLES[approach], style)
        for approach in KITS
        for ending, build, style in plans
    ]


def _ratios(compared: Comparison, **builds: Build) -> list[list[object]]:
    rows: list[list[object]] = []
    for title, build in builds.items():
        intervals, signs = (compared.seconds(approach, build) for approach in KITS)
        rows.append([title.replace("_", " "), intervals, signs, signs / intervals])
    return rows


if __name__ == "__main__":
    main()
