"""Which queries use which parts, as they come and go."""

from __future__ import annotations

import pyarrow as pa

from tidemill import Engine
from tidemill.algebra import Schema
from tidemill.algebra.nodes import Scan
from tidemill.graph.metadata import NodeMetadata
from tidemill.graph.uses import Uses
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.runtime.interface import Job, Root

SOURCE = SourceExec(Scan("a", "a", Schema.of(x=pa.int64())))
SHORT, LONG = TimeWindowExec(SOURCE, 5), TimeWindowExec(SOURCE, 9)
ONCE = DistinctExec(SHORT, ("a.x",))


def test_parts_stay_as_long_as_a_query_uses_them() -> None:
    uses, one, two = Uses(), Root(Job(ONCE)), Root(Job(LONG))
    uses.follow({"one": one, "two": two})
    assert uses.queries(SOURCE) == ("one", "two")
    assert uses.queries(SHORT) == ("one",)
    assert set(uses) == {SOURCE, SHORT, LONG, ONCE}
    uses.follow({"two": two})
    assert set(uses) == {SOURCE, LONG}
    uses.follow({"two": Root(Job(SHORT))})
    assert set(uses) == {SOURCE, SHORT}
    assert LONG not in uses
    assert uses.queries(LONG) == ()
    uses.follow({})
    assert len(uses) == 0


def test_parts_keep_their_numbers_while_others_come_and_go() -> None:
    engine = Engine(runtime="inprocess")
    engine.stream("s", pa.schema({"x": pa.int64(), "at": pa.int64()}), time="at")
    graph = engine.run(every=None)
    engine.sql("SELECT DISTINCT x FROM s WINDOW(RANGE 5)").start("memory", name="first")
    before = _by_label(graph.nodes)
    looks: list[dict[str, NodeMetadata]] = []
    stop = graph.subscribe(lambda parts: looks.append(_by_label(parts)))
    for number in range(3):
        other = engine.sql(f"SELECT COUNT(*) AS n FROM s WINDOW(RANGE {number + 6})")
        started = other.start("memory", name=f"other{number}")
        engine.push("s", [{"x": number, "at": number}])
        graph.tick()
        started.stop()
    stop()
    graph.tick()
    assert len(looks) == 3
    for look in looks:
        assert {label: part.id for label, part in look.items()}.items() >= {
            (label, part.id) for label, part in before.items()
        }
        assert {len(part.queries) for part in look.values()} == {1, 2}
    (window,) = [label for label in before if "range=5" in label]
    assert [look[window].rows_in for look in looks] == [1, 2, 3]
    ids = [part.id for look in looks for label, part in look.items() if label not in before]
    assert len(ids) == len(set(ids))


def _by_label(parts: object) -> dict[str, NodeMetadata]:
    return {part.label: part for part in dict(parts).values()}
