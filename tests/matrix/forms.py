"""The forms of results: intervals, live, changes, snapshot."""

from __future__ import annotations

import inspect

from tests.matrix.cells import Capability, Case, Group, Refusal
from tests.matrix.data import ANSWER, BID, CHANGES, FAR, FIRST, HOT, UNTIL_6, merged, netted
from tests.matrix.ways import Asked, Collect, Row, Server, Way, in_order
from tidemill.engine.query import Query


def begun(case: Case, form: str) -> Way:
    """A query in a form; its first rows were read. On a server, all of its answer is kept."""
    way = case.open()
    way.declare(BID)
    way.ask(hot=HOT if isinstance(way, Server) else Asked(HOT, form=form))
    way.push("bid", FIRST)
    way.settle()
    return way


def intervals(case: Case) -> None:
    with begun(case, "intervals") as way:
        if not isinstance(way, Collect | Server):
            assert way.rows("hot") == [(1, 1, 3, 5)]
        way.beat("bid", FAR)
        way.settle()
        assert way.rows("hot") == ANSWER


def live(case: Case) -> None:
    with begun(case, "live") as way:
        assert merged(way.rows("hot")) == UNTIL_6
        way.beat("bid", FAR)
        way.settle()
        assert merged(way.rows("hot")) == ANSWER


def changes(case: Case) -> None:
    with begun(case, "changes") as way:
        way.beat("bid", FAR)
        way.settle()
        assert netted(_log(way)) == CHANGES


def _log(way: Way) -> list[Row]:
    if isinstance(way, Collect):
        return in_order(way.asked["hot"].changes())
    if isinstance(way, Server):
        told = way.said_to("GET", "queries/hot/changes")
        every = zip(told["rows"], told["at"], told["change"], strict=True)
        return [(*row, at, change) for row, at, change in every]
    return way.rows("hot")


def snapshot(case: Case) -> None:
    with begun(case, "snapshot") as way:
        if not isinstance(way, Collect):
            assert _now(way) == [(1, 2, 5)]
        way.beat("bid", 8)
        way.settle()
        assert _now(way) == [(1, 1, 7), (2, 1, 7)]


def _now(way: Way) -> list[Row]:
    """The rows of the newest instant that is complete; of a whole answer, at 7."""
    if isinstance(way, Collect):
        return [(*row, 7) for row in in_order(way.asked["hot"].snapshot(7))]
    if isinstance(way, Server):
        told = way.said_to("GET", "queries/hot/snapshot")
        return [(*row, told["at"]) for row in told["rows"]]
    return way.rows("hot")


def nothing_is_open(case: Case) -> None:
    assert "form" not in inspect.signature(Query.collect).parameters
    with begun(case, "live") as way:
        assert way.rows("hot") == ANSWER


AT_THE_END = Refusal(
    "`live` gives rows before their end is known. `collect()` answers when its input has ended, "
    "and then all ends are known: its answer is that of `intervals`.",
    nothing_is_open,
)

FORMS = Group(
    "Forms",
    (
        Capability("intervals", intervals),
        Capability("live", live, {"collect": AT_THE_END}),
        Capability("changes", changes, sample="server"),
        Capability("snapshot", snapshot),
    ),
)
