"""Figures, goals and bounds; tables, JSON and pictures of them."""

import builtins
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from benchmarks.auction import goals, growth, plot, table
from benchmarks.auction.measure import SAME, Outcome
from benchmarks.auction.report import Kind, Report, check_files
from benchmarks.auction.run import Plan
from benchmarks.auction.runner import Runner
from benchmarks.auction.systems import PEERS
from benchmarks.auction.worker import Spent
from tidemill import TidemillError
from tidemill.nexmark.queries import QUERIES

GIB = 2**30


def outcome(query: str, system: str, seconds: float, gib: float = 1.0, **more: Any) -> Outcome:
    spent = Spent(seconds, int(gib * GIB), seconds)
    return Outcome(query, system, SAME, 10_000_000, spent, **more)


OUTCOMES = [
    outcome("counts", "tidemill", 4, 5, ticks=({"plan": 1.0, "run": 2.0}, {"run": 0.5})),
    outcome("counts", "floor", 2),
    outcome("counts", "spark", 60, 7),
    outcome("counts", "flink over", 20, agrees=True),
    outcome("counts", "inprocess", 2, agrees=False),
    outcome("q3", "tidemill", 20, 6.5),
    outcome("q3", "spark", 100, gave_up=True),
    Outcome("q3", "flink", SAME, missing="failed: no slots"),
    outcome("q6", "tidemill", 50),
    Outcome("q7", "spark", "", missing="no form of it"),
]


def verdicts(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], bool | None]:
    return {(f.query, f.metric): f.met for f in goals.figures(outcomes)}


def text(shown: Table) -> str:
    console = Console(width=200, file=io.StringIO())
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def test_every_goal_is_judged() -> None:
    assert verdicts(OUTCOMES) == {
        ("counts", "speed"): True,
        ("counts", "memory"): True,
        ("counts", "times floor"): None,
        ("counts", "memory of spark"): None,
        ("counts", "times spark"): False,
        ("counts", "memory of flink over"): None,
        ("counts", "times flink over"): True,
        ("counts", "memory of inprocess"): None,
        ("counts", "times inprocess"): False,
        ("q3", "speed"): False,
        ("q3", "memory"): False,
        ("q3", "memory of spark"): None,
        ("q3", "times spark"): False,
        ("q6", "speed"): False,
        ("q6", "memory"): True,
    }


def test_a_bound_meets_a_goal_only_if_the_truth_does() -> None:
    fast = [outcome("q3", "tidemill", 5), outcome("q3", "spark", 100, gave_up=True)]
    (times,) = (f for f in goals.figures(fast) if f.metric == "times spark")
    assert (times.value, times.bound, times.met) == (20.0, "at least", True)
    slow = [replace(fast[0], gave_up=True), replace(fast[1], gave_up=False)]
    found = {f.metric: f for f in goals.figures(slow)}
    assert (found["times spark"].bound, found["times spark"].met) == ("at most", False)
    assert (found["speed"].bound, found["speed"].met) == ("at most", False)
    assert (found["memory"].bound, found["memory"].met) == ("at least", False)
    both = [replace(each, gave_up=True) for each in fast]
    assert ("q3", "times spark") not in verdicts(both)


def test_a_query_that_failed_misses_its_goal() -> None:
    failed = Outcome("q1", "tidemill", "", missing="failed: no memory")
    assert verdicts([failed, outcome("q1", "spark", 5)]) == {
        ("q1", "speed"): False,
        ("q1", "memory of spark"): None,
    }


def test_tables_show_bounds_misses_and_reasons() -> None:
    systems = text(table.systems_table(OUTCOMES))
    for words in (
        "over 100.00 (gave up)",
        "< 100,000",
        "≥ × 5.00",
        "same question; failed: no slots",
        "same question; answers agree",
        "same question; ANSWERS DIFFER",
        "no form of it",
    ):
        assert words in systems
    judged = text(table.goals_table(list(goals.figures(OUTCOMES)), 5))
    assert "15.00 ✗ missed" in judged
    assert "≥ 5.00 ✗ missed" in judged
    assert "≥ 1,000,000 events/s" in judged
    phases = text(table.phases_table(OUTCOMES)).splitlines()
    counts = next(line for line in phases if "counts" in line)
    assert "│  4.00 │    0.50 │ 1.00 │ 2.50 │ 0.00 │ 0.00 │ 0.00 │        0 │  2.00 │" in counts
    assert any("q6 ◀" in line for line in phases)


def test_growth_is_relative_to_the_first_case() -> None:
    cases = [
        outcome("counts", "tidemill", 4, case="base", state_rows=10),
        outcome("counts", "tidemill", 8, case="window × 10", state_rows=100),
        Outcome("counts", "tidemill", "", case="two executors", missing="failed: no port"),
    ]
    figures = list(growth.figures(cases))
    assert {f.metric: f.met for f in figures if f.goal} == {"of base, window × 10": False}
    assert {f.metric: f.value for f in figures} == {
        "speed, base": 2_500_000,
        "speed, window × 10": 1_250_000,
        "of base, window × 10": 0.5,
        "speed, two executors": 0.0,
    }
    shown = text(table.growth_table(cases))
    assert "× 0.50" in shown
    assert "failed: no port" in shown


def report(kind: Kind, folder: Path) -> Report:
    plan = Plan(1000, [QUERIES["counts"]], [PEERS["spark"]], folder)
    return Report(kind, plan, Runner(limit=5))


def test_an_interrupted_run_keeps_its_figures(tmp_path: Path) -> None:
    def interrupted(plan: Plan, runner: Runner) -> Iterator[Outcome]:
        yield from OUTCOMES[:3]
        raise KeyboardInterrupt

    file = tmp_path / "figures.json"
    stopped = report(Kind("Test", interrupted, goals.figures), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        stopped.measure(file)
    kept = json.loads(file.read_text())
    assert [each["system"] for each in kept["outcomes"]] == ["tidemill", "floor", "spark"]
    assert {"query": "counts", "metric": "times spark", "met": False}.items() <= (
        next(f for f in kept["figures"] if f["metric"] == "times spark").items()
    )
    assert kept["slowest"] == {
        "query": "counts",
        "case": "",
        "seconds": 4,
        "phases": {"plan": 1.0, "run": 2.5},
        "floor": 2,
    }
    assert kept["settings"]["limit"] == 5
    assert stopped.summary() == "2 of 3 goals met"


@pytest.mark.parametrize("name", ["bars.png", "bars.svg"])
def test_bars_are_drawn(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / name
    plot.draw(OUTCOMES, "Test", file)
    content = file.read_bytes()
    if name.endswith("svg"):
        for words in (b"2,500,000", b"&lt; 100,000", b"short auctions", b"spark"):
            assert words in content
    else:
        assert content.startswith(b"\x89PNG")


def test_what_cannot_be_written_is_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TidemillError, match=r"`bars\.txt` is no picture"):
        check_files(None, Path("bars.txt"))
    with pytest.raises(TidemillError, match="no folder for"):
        check_files(tmp_path / "missing" / "figures.json", None)
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TidemillError, match="Matplotlib is needed") as caught:
        check_files(None, tmp_path / "bars.png")
    assert "tidemill[bench]" in str(caught.value)
