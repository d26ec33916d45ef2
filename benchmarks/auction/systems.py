"""The systems under test: how to start each, how to ask it, and where its data are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks.auction import flink, flink_job, floor, inprocess, structured, tidemill_spark
from benchmarks.auction.answers import agree, same_answer
from benchmarks.auction.measure import Form
from tidemill.errors import TidemillError


@dataclass(frozen=True)
class System:
    """A system in a process of its own: `target` is the module or file that it runs."""

    name: str
    target: str
    forms: Callable[[str], Sequence[Form]]
    do: str = "run"
    python: Callable[[], str] = lambda: sys.executable
    input: Callable[[Path, int], Path] = lambda data, slots: data
    read_answer: Callable[[Path], pl.DataFrame] | None = pl.read_parquet
    answer_slots: int | None = None
    agrees: Callable[[str, pl.DataFrame, pl.DataFrame], bool] = agree
    no_form: Mapping[str, str] = field(default_factory=dict)


TIDEMILL = System(tidemill_spark.NAME, tidemill_spark.__name__, tidemill_spark.forms)
FLOOR = System(
    floor.NAME,
    # In the same process: the floor of this session, with these Python workers.
    tidemill_spark.__name__,
    lambda query: (Form(floor.NAME, query, floor.NOTE),),
    do="floor",
    read_answer=None,
)
PEERS = {
    system.name: system
    for system in (
        System(
            structured.NAME,
            structured.__name__,
            partial(structured.forms, structured.NAME),
            no_form=structured.NO_FORM,
        ),
        System(
            structured.IN_MEMORY,
            structured.__name__,
            partial(structured.forms, structured.IN_MEMORY),
            no_form={**structured.NO_FORM, **structured.NO_STATE},
        ),
        System(
            flink.NAME,
            flink_job.__file__,
            flink.forms,
            python=flink.interpreter,
            input=flink.to_csv,
            read_answer=flink.read_answer,
            # A single one: with little data, one of two might read both files, one after the other.
            answer_slots=1,
        ),
        System(
            inprocess.NAME,
            inprocess.__name__,
            inprocess.forms,
            agrees=lambda form, ours, theirs: same_answer(ours, theirs),
        ),
    )
}


def choose_peers(names: str) -> list[System]:
    """The peers of a list such as `spark,flink`; those that are not installed are refused."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in PEERS:
            raise TidemillError(f"no peer `{name}`", help=f"peers: {', '.join(PEERS)}")
        PEERS[name].python()
    return [PEERS[name] for name in wanted]
