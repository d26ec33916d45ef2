"""A run and what has come out of it so far, as JSON, as tables and as a picture."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from rich.table import Table

from benchmarks.auction import goals, growth, plot, run, table
from benchmarks.auction.goals import Figure
from benchmarks.auction.measure import Outcome
from benchmarks.auction.phases import slowest_phases
from benchmarks.auction.run import Plan
from benchmarks.auction.runner import Runner
from tidemill.errors import TidemillError


@dataclass(frozen=True)
class Kind:
    """A benchmark: how its outcomes are measured, and which figures are made of them."""

    title: str
    measure: Callable[[Plan, Runner], Iterator[Outcome]]
    judge: Callable[[Sequence[Outcome]], Iterator[Figure]]


AUCTION = Kind("Auction benchmark", run.compare_systems, goals.figures)
GROWTH = Kind("Growth", growth.measure_growth, growth.figures)


@dataclass
class Report:
    """A plan on its way, and its outcomes so far."""

    kind: Kind
    plan: Plan
    runner: Runner
    outcomes: list[Outcome] = field(default_factory=list)

    def measure(self, json_file: Path | None = None, plot_file: Path | None = None) -> None:
        """Run the plan. Files are written anew after every outcome: what is there, is kept."""
        check_files(json_file, plot_file)
        for outcome in self.kind.measure(self.plan, self.runner):
            self.outcomes.append(outcome)
            if json_file is not None:
                self.write(json_file)
            if plot_file is not None:
                plot.draw(self.outcomes, self.title, plot_file)

    @property
    def title(self) -> str:
        return f"{self.kind.title}: {self.plan.size.bids:,} bids, {self.runner.cores} cores"

    @property
    def figures(self) -> list[Figure]:
        return list(self.kind.judge(self.outcomes))

    def tables(self) -> list[Table]:
        """What there is to see."""
        is_growth = self.kind is GROWTH
        outcomes = (table.growth_table if is_growth else table.systems_table)(self.outcomes)
        goals_of_it = table.goals_table(self.figures, self.plan.size.bids)
        return [outcomes, table.phases_table(self.outcomes), goals_of_it]

    def summary(self) -> str:
        """How many goals were met, and whether answers differ."""
        met = [figure.met for figure in self.figures if figure.met is not None]
        parts = [f"{sum(met)} of {len(met)} goals met"] if met else []
        if different := [f"{o.query} in {o.system}" for o in self.outcomes if o.agrees is False]:
            parts.append(f"ANSWERS DIFFER: {', '.join(different)}")
        return "; ".join(parts)

    def write(self, path: Path) -> None:
        """Replace the file at once, so that it is whole at any time."""
        unfinished = path.with_name(f"{path.name}.unfinished")
        unfinished.write_text(json.dumps(self.as_json(), indent=2) + "\n")
        unfinished.replace(path)

    def as_json(self) -> dict[str, object]:
        """Every figure with its goal and whether it was met, and what was measured."""
        return {
            "title": self.title,
            "settings": {
                "bids": self.plan.size.bids,
                "events": self.plan.size.events,
                "ticks": self.plan.data.files,
                "queries": [query.name for query in self.plan.queries],
                "peers": [peer.name for peer in self.plan.peers],
                "cores": self.runner.cores,
                "limit": self.runner.limit,
            },
            "machine": machine(),
            "figures": [{**asdict(figure), "met": figure.met} for figure in self.figures],
            "slowest": slowest_phases(self.outcomes),
            "outcomes": [
                {
                    **asdict(outcome),
                    "events_per_second": outcome.events_per_second,
                    "phases": outcome.phases,
                }
                for outcome in self.outcomes
            ],
        }


def check_files(json_file: Path | None, plot_file: Path | None) -> None:
    """Refuse what could not be written, before hours of measuring."""
    if plot_file is not None:
        plot.check(plot_file)
    for file in (json_file, plot_file):
        if file is not None and not file.absolute().parent.is_dir():
            help = f"make it first: mkdir -p {file.parent}"
            raise TidemillError(f"there is no folder for `{file}`", help=help)


def machine() -> dict[str, object]:
    """What it was measured on."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in ("pyspark", "polars", "pyarrow")},
    }
