"""One run of the benchmark: every query in every system, one after the other, on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

from tidemill.errors import TidemillError
from tidemill.nexmark.bench import flink, floor, inprocess, structured, tidemill_spark
from tidemill.nexmark.bench.answers import agree
from tidemill.nexmark.bench.measure import Outcome, Setting, Spent
from tidemill.nexmark.generate import BIDS_PER_AUCTION, Size, generate
from tidemill.nexmark.queries import BenchmarkQuery

PEERS = (structured.NAME, flink.NAME, inprocess.NAME)
_CHECKED_BIDS = 20_000
_WARM_UP_BIDS = 5_000
_SEED = 1


@dataclass(frozen=True)
class Plan:
    """What to run: how much data, which queries, against whom."""

    events: int
    queries: Sequence[BenchmarkQuery]
    peers: Sequence[str]
    folder: Path
    cores: int = 2
    floor: bool = True
    compare: bool = True
    fewest_ticks: int = 4

    def __post_init__(self) -> None:
        for peer in self.peers:
            if peer not in PEERS:
                raise TidemillError(f"no peer `{peer}`", help=f"peers: {', '.join(PEERS)}")

    @property
    def size(self) -> Size:
        """Of ten bids, an auction's opening and its end, and a tenth of a person."""
        return Size(max(1, int(self.events / (1 + 2.1 / BIDS_PER_AUCTION))))

    @property
    def files(self) -> int:
        """Ticks of about a million bids, but some ticks in any case."""
        return min(20, max(self.fewest_ticks, self.size.bids // 1_000_000))


@dataclass
class Bench:
    """A plan with a session to run it on; `note` is told what is being done."""

    session: SparkSession
    plan: Plan
    note: Callable[[str], None] = lambda text: None

    def run(self) -> Iterator[Outcome]:
        """Generate, warm up, compare answers on little data, and measure on all of it."""
        little, data = self._data()
        agreed = self._agreed(little) if self.plan.compare else {}
        flinks = self._flink(data, little.data)
        for query in self.plan.queries:
            # Start-up is not measured: code is compiled, workers are there, in every system.
            self.note(f"warming up {query.name}")
            list(self._query(query, little))
            for outcome in (*self._query(query, data), *flinks):
                if outcome.query == query.name:
                    yield replace(outcome, agrees=agreed.get((outcome.system, outcome.query)))

    def _data(self) -> tuple[Setting, Setting]:
        wanted = _CHECKED_BIDS if self.plan.compare else _WARM_UP_BIDS
        checked = min(wanted, self.plan.size.bids)
        settings = []
        for name, bids, files in (("little", checked, 2), ("data", self.plan.size.bids, 0)):
            folder = self.plan.folder / f"{name}-{bids}"
            if not folder.exists():
                self.note(f"generating {bids:,} bids")
                generate(self.session, folder, bids, files or self.plan.files, _SEED)
            settings.append(Setting(folder, self.plan.cores))
        return settings[0], settings[1]

    def _query(self, query: BenchmarkQuery, data: Setting) -> Iterator[Outcome]:
        """Tidemill, the floor below it, and the peers that run in this process."""
        events = query.events(self.plan.size)

        def outcome(system: str, spent: Spent, question: str) -> Outcome:
            return Outcome(query.name, system, events, spent, question)

        self.note(f"{query.name} in Tidemill on Spark")
        spent, phases = tidemill_spark.run(self.session, query, data)
        yield replace(outcome(tidemill_spark.NAME, spent, ""), phases=phases)
        if self.plan.floor:
            self.note(f"{query.name}: the floor")
            yield outcome(floor.NAME, floor.run(self.session, query, data), floor.NOTE)
        if structured.NAME in self.plan.peers and query.name in structured.QUESTIONS:
            self.note(f"{query.name} in Spark's own API")
            asked = structured.QUESTIONS[query.name][1]
            yield outcome(structured.NAME, structured.run(self.session, query.name, data), asked)
        if inprocess.NAME in self.plan.peers:
            self.note(f"{query.name} in Tidemill without Spark")
            yield outcome(inprocess.NAME, inprocess.run(query, data), inprocess.NOTE)

    def _flink(self, data: Setting, warm: Path) -> list[Outcome]:
        """All queries of Flink at once, because it has a process of its own to start."""
        wanted = {q.name: q for q in self.plan.queries if q.name in flink.QUESTIONS}
        if flink.NAME not in self.plan.peers or not wanted:
            return []
        self.note("Flink")
        asked = {form: name for name in wanted for form in flink.QUESTIONS[name]}
        figures = flink.run(list(asked), data, warm)
        return [
            Outcome(
                name,
                # "counts over" of the query "counts" is shown as the system "flink over".
                form.replace(name, flink.NAME, 1),
                wanted[name].events(self.plan.size),
                figures[form],
                flink.QUESTIONS[name][form],
            )
            for form, name in asked.items()
        ]

    def _agreed(self, little: Setting) -> dict[tuple[str, str], bool]:
        """Whether peers give our answers, by system and query."""
        common = [q for q in self.plan.queries if q.name in structured.QUESTIONS]
        theirs: dict[tuple[str, str], pl.DataFrame] = {}
        if structured.NAME in self.plan.peers:
            for query in common:
                self.note(f"comparing the answers of Spark's own API to {query.name}")
                key = (structured.NAME, query.name)
                theirs[key] = structured.answer(self.session, query.name, little)
        if flink.NAME in self.plan.peers and common:
            self.note("comparing the answers of Flink")
            answers = flink.answer([query.name for query in common], little)
            theirs |= {(flink.NAME, name): rows for name, rows in answers.items()}
        ours = {q.name: tidemill_spark.answer(self.session, q, little) for q in common if theirs}
        return {key: agree(key[1], ours[key[1]], rows) for key, rows in theirs.items()}


def as_json(plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """All figures of a run."""
    rows = [{**asdict(o), "events_per_second": o.events_per_second} for o in outcomes]
    return {
        "bids": plan.size.bids,
        "events": plan.size.events,
        "ticks": plan.files,
        "cores": plan.cores,
        "outcomes": rows,
    }
