"""Streams that come from outside: what is there at the start, and what comes while queries run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.matrix.cells import Capability, Case, Group
from tests.matrix.data import ANSWER, FAR, FIRST, HOT, Sent
from tests.matrix.ways import Collect, Server


def run(case: Case, source: str, send: Callable[[Sequence[Sent]], None], allow: str) -> None:
    """A part of the rows is there before the query, the others come later."""
    columns = "item BIGINT, price BIGINT, at BIGINT"
    with case.open() as way:
        if isinstance(way, Server):
            way.allow += (allow,)
        send(FIRST[:2])
        way.declare(f"CREATE STREAM bid ({columns}) SOURCE {source} ORDERED BY at")
        way.ask(hot=HOT)
        way.settle()
        send(FIRST[2:])
        way.settle()
        if not isinstance(way, Collect):
            send([{"item": 9, "price": 0, "at": FAR}])
            way.settle()
        assert way.error("hot") is None
        assert [row for row in way.rows("hot") if row[0] != 9] == ANSWER


def files(case: Case) -> None:
    folder = case.folder / "bids"
    folder.mkdir()
    run(case, f"json(path => '{folder}')", lambda rows: _written(folder, rows), str(folder))


def _written(folder: Path, rows: Sequence[Sent]) -> None:
    name = f"{len(list(folder.iterdir()))}.json"
    (folder / f".{name}").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / f".{name}").rename(folder / name)


def topic(case: Case) -> None:
    broker, name = case.tools["broker"](), case.tools["topic"]()
    source = f"kafka(servers => '{broker.address}', topic => '{name}')"
    allowed = f"kafka://{broker.address}/{name}"
    run(case, source, lambda rows: broker.send_rows(name, rows), allowed)


SOURCES = Group(
    "Sources of streams, besides pushed rows",
    (
        Capability("files", files),
        Capability("`kafka`", topic, {}, "start"),
    ),
)
