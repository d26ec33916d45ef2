"""The places where results go: each is tried in all forms at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.matrix import forms
from tests.matrix.cells import Capability, Case, Group, Refusal
from tests.matrix.data import ANSWER, BID, CHANGES, FAR, FIRST, HOT, merged, netted
from tests.matrix.ways import Asked, Row, Server, Way, in_order
from tidemill.connectors.sinks import FORMS
from tidemill.errors import TidemillError

_TIMES = {"intervals": ["valid_from", "valid_to"], "live": ["valid_from", "valid_to"]}
_TIMES |= {"changes": ["changed_at", "change"], "snapshot": ["snapshot_at"]}

Read = Callable[[str], list[Row]]
"""What a sink was given in a form."""


def counted(form: str) -> str:
    """The bids of an item, in a column that is named as the form."""
    return f"SELECT item, COUNT(*) AS n_{form} FROM bid WINDOW(RANGE 4) GROUP BY item"


def columns(form: str) -> list[str]:
    return ["item", f"n_{form}", *_TIMES[form]]


def compare(way: Way, read: Read, wanted: Sequence[str] = FORMS) -> None:
    """Run queries in all forms, which have been started, to their end, and look at the sinks."""
    way.push("bid", FIRST)
    way.settle()
    way.beat("bid", 8)
    way.settle()
    assert "snapshot" not in wanted or read("snapshot") == [(1, 1, 7), (2, 1, 7)]
    way.beat("bid", FAR)
    way.settle()
    for name in wanted:
        assert way.error(name) is None
    assert read("intervals") == ANSWER
    assert merged(read("live")) == ANSWER
    assert netted(read("changes")) == CHANGES


def run(
    case: Case,
    asked: Callable[[str], Asked],
    read: Read,
    allow: Sequence[str] = (),
    wanted: Sequence[str] = FORMS,
) -> None:
    """Start queries in all forms, as clients would on a server, and compare."""
    with case.open() as way:
        if isinstance(way, Server):
            way.allow += tuple(allow)
        way.declare(BID)
        for form in set(FORMS) - set(wanted):
            with pytest.raises(TidemillError, match="cannot hold a snapshot"):
                way.ask(**{form: asked(form)})
        way.ask(**{form: asked(form) for form in wanted})
        compare(way, read, wanted)


# The sinks


def memory(case: Case) -> None:
    """On a server, where the answers of queries without INSERT INTO are kept."""
    if case.way is Server:
        for each in (forms.intervals, forms.live, forms.changes, forms.snapshot):
            each(case)
        return
    with case.open() as way:
        way.declare(BID)
        way.ask(**{form: Asked(counted(form), "memory", form) for form in FORMS})
        compare(way, way.rows)


def console(case: Case) -> None:
    """On a server it is for the file that it is started with: the terminal is not its clients'."""
    shown: list[str] = []

    def read(form: str) -> list[Row]:
        shown.extend(case.tools["output"]().splitlines())
        return _printed(shown, form)

    asked = {form: Asked(counted(form), "console", form) for form in FORMS}
    with case.open() as way:
        way.declare(BID)
        if isinstance(way, Server):
            way.ask_at_start(**asked)
        else:
            way.ask(**asked)
        compare(way, read)


def _printed(lines: Sequence[str], form: str) -> list[Row]:
    """The rows of a form that were printed; of snapshots, those of the instant 7."""
    rows = []
    for line in lines:
        found = dict(re.findall(r"(\w+)=([^,]*)", line))
        if list(found) == columns(form):
            rows.append(tuple(int(v) if v.isdigit() else v for v in found.values()))
    if form == "snapshot":
        return sorted({row for row in rows if row[-1] == 7})
    return sorted(rows)


def function(case: Case) -> None:
    given: dict[str, dict[int, pa.Table]] = {form: {} for form in FORMS}

    def take(form: str, table: pa.Table, tick: int) -> None:
        assert table.column_names == columns(form)
        given[form][tick] = table

    def read(form: str) -> list[Row]:
        ticks = sorted(given[form])[-1:] if form == "snapshot" else sorted(given[form])
        return in_order(pa.concat_tables([given[form][tick] for tick in ticks]))

    run(case, lambda form: Asked(counted(form), partial(take, form), form), read)


def files(format: str, case: Case) -> None:
    options = {"header": True} if format == "csv" else {}

    def asked(form: str) -> Asked:
        path = str(case.folder / form)
        return Asked(counted(form), format, form, {"path": path, **options})

    run(case, asked, lambda form: in_order(_read(format, case.folder / form, form)))


def _read(format: str, folder: Path, form: str) -> pa.Table:
    whole = [path.parent for path in sorted(folder.glob("*/_SUCCESS"))]
    assert form != "snapshot" or len(whole) == 1
    parts = [str(part) for each in whole for part in each.glob("part-*")]
    assert len(list(folder.glob("*/part-*"))) == len(parts)
    # (A file of JSON that has no rows has no columns either.)
    filled = [part for part in parts if Path(part).stat().st_size]
    tables = [ds.dataset(part, format=format).to_table() for part in filled]
    rows = [table.select(columns(form)) for table in tables if table.num_rows]
    return pa.concat_tables(rows)


def postgres(case: Case) -> None:
    database = case.tools["database"]()

    def asked(form: str) -> Asked:
        options = {"url": database.url, "table": f"in_{form}"}
        return Asked(counted(form), "postgres", form, options)

    def read(form: str) -> list[Row]:
        """A table that is a snapshot holds no instant."""
        names = [name for name in columns(form) if name != "snapshot_at"]
        rows = database.run(f"SELECT {', '.join(names)} FROM in_{form}")
        return sorted((*row, 7) if form == "snapshot" else row for row in rows)

    run(case, asked, read, [database.url])


def kafka(case: Case) -> None:
    """A topic only grows: snapshots, which take the place of others, are refused."""
    broker, name = case.tools["broker"](), case.tools["topic"]()

    def asked(form: str) -> Asked:
        options = {"servers": broker.address, "topic": broker.make(f"{name}-{form}")}
        return Asked(counted(form), "kafka", form, options)

    def read(form: str) -> list[Row]:
        return sorted(tuple(row.values()) for row in broker.rows(f"{name}-{form}"))

    allowed = f"kafka://{broker.address}"
    run(case, asked, read, [allowed], [form for form in FORMS if form != "snapshot"])


def any_writer(case: Case) -> None:
    """XML is a format that nobody here knows but Spark."""

    def asked(form: str) -> Asked:
        path = str(case.folder / form)
        return Asked(counted(form), "xml", form, {"path": path, "rowTag": "row"})

    def read(form: str) -> list[Row]:
        reader = case.session.read.format("xml").option("rowTag", "row")
        rows = reader.load(str(case.folder / form)).select(*columns(form)).collect()
        return sorted(tuple(row) for row in rows)

    run(case, asked, read, ["xml()"])


# What has no meaning


def returns_the_rows(case: Case) -> None:
    with case.open() as way:
        way.declare(BID)
        way.push("bid", FIRST)
        for sink in ("parquet", "console"):
            way.ask(hot=Asked(HOT, sink, "intervals", {"path": str(case.folder / "hot")}))
            assert way.rows("hot") == ANSWER
        assert list(case.folder.iterdir()) == []
        assert case.tools["output"]() == ""


def names_no_function(case: Case) -> None:
    with case.open() as way:
        way.declare(BID)
        with pytest.raises(TidemillError) as refused:
            way.ask(hot=Asked(HOT, "my_function"))
        assert refused.value.message == "my_function(...) is not allowed here"
        assert [each["name"] for each in _queries(way)] == []


def _queries(way: Way) -> Any:
    assert isinstance(way, Server)
    return way.said_to("GET", "queries")


def only_spark(case: Case) -> None:
    with case.open() as way:
        if isinstance(way, Server):
            way.allow += ("xml()",)
        way.declare(BID)
        with pytest.raises(TidemillError) as refused:
            way.ask(hot=Asked(HOT, "xml", None, {"path": str(case.folder / "hot")}))
        assert refused.value.message.startswith("in this process, results cannot go to xml: ")
        assert "for a format of Spark use Engine(), which runs on Spark" in str(refused.value.help)


ITS_OWN = Refusal(
    "`collect()` returns the rows itself, even if the query has a sink: sinks are for `start`. "
    "(`changes()` and `snapshot()` return them in other forms.)",
    returns_the_rows,
)
NO_OBJECT = Refusal(
    "A function is an object of the program that holds the engine. Over HTTP there is none: "
    "clients read results with `GET` or over the WebSocket.",
    names_no_function,
)
NO_WRITER = Refusal("Spark's writers need Spark.", only_spark)


def _sink(
    name: str, works: Callable[[Case], None], sample: str | None = None, **refused: Refusal
) -> Capability:
    return Capability(name, works, {"collect": ITS_OWN, **refused}, sample)


SINKS = Group(
    "Sinks, each in all of its forms",
    (
        _sink("`memory`", memory),
        _sink("`console`", console),
        _sink("a function", function, server=NO_OBJECT),
        _sink("`parquet`", partial(files, "parquet"), "start"),
        _sink("`csv`", partial(files, "csv")),
        _sink("`json`", partial(files, "json")),
        _sink("`arrow`", partial(files, "arrow")),
        _sink("`orc`", partial(files, "orc")),
        _sink("`postgres`", postgres),
        _sink("`kafka`, but no `snapshot`", kafka),
        _sink("any writer of Spark", any_writer, "graph", inprocess=NO_WRITER),
    ),
)
