"""Durable files: what comes back is what was written, and nothing in them is ever run."""

from __future__ import annotations

import json
import pickle
from collections import Counter, deque
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sqlglot import exp

import tidemill as tm
from tests.runtime.state_files import FOLDER, answers_of, engine_of, graphs_of, known_to
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError, TidemillError
from tidemill.expressions import UserFunction
from tidemill.physical.operators.join.side import SortedRun
from tidemill.runtime import codec
from tidemill.runtime.codec.names import NAMES, class_of
from tidemill.runtime.reports import TaskFailure
from tidemill.store import Store


def again(value: Any, **options: Any) -> Any:
    return codec.load(bytearray(b"".join(codec.dump(value))), **options)


@pytest.mark.parametrize(
    "value",
    [
        None,
        -(2**90),
        1.5,
        float("inf"),
        "",
        b"\x00\xff",
        (1, ("a", [2.5])),
        {(1, "a"): {2: None}, "b": []},
        {(2, "a")},
        frozenset({1}),
        deque([1, 2]),
        Decimal("1.50"),
        datetime(2024, 3, 1, 9, 30),
        date(2024, 3, 1),
        timedelta(days=-1, microseconds=3),
        pa.list_(pa.decimal128(9, 2)),
        pa.timestamp("us"),
        Schema.of(a=pa.int64(), b=pa.struct([("x", pa.string())])),
        Scalar(exp.GT(this=exp.column("a"), expression=exp.Literal.number(10)), pa.bool_()),
        TaskFailure("it broke", help="mend it"),
    ],
    ids=repr,
)
def test_values(value: Any) -> None:
    found = again([value])[0]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5),
        np.array([True, False]),
        np.zeros((0, 3)),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.array([2**70, None, "a"], dtype=object),
        np.zeros(2, np.dtype([("key", np.int64), ("at", np.int32)], align=True)),
        np.arange(10)[::2],
    ],
    ids=repr,
)
def test_arrays_can_be_changed(array: Any) -> None:
    found = again(array)
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()
    found[:1] = found[1:2]


def test_frames() -> None:
    frame = pl.DataFrame(
        {"a": [1, None], "b": ["x", "y" * 50], "c": [[1], []], "d": [Decimal("1.50"), None]}
    )
    for rows in (frame, frame[1:], frame.clear(), pl.DataFrame()):
        assert again({"rows": rows})["rows"].equals(rows)
        assert again(rows).schema == rows.schema


def test_what_occurs_twice_is_written_once() -> None:
    hashes = np.arange(1000, dtype=np.uint64)
    run = SortedRun(hashes, pl.DataFrame({"a": range(1000)}))
    first, second, array = again((run, run, hashes))
    assert first is second
    assert first.hashes is array


def test_an_object_is_filled_where_it_is() -> None:
    target: Counter[str] = Counter()
    found = again([{"a": 2}], into=[target])
    assert found == [{"a": 2}]
    assert found[0] is target


def test_every_name_is_a_class() -> None:
    assert all(isinstance(class_of(name), type) for name in NAMES)
    assert class_of("errors.ExecutionError") is None


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    class Trap:
        def __reduce__(self) -> tuple[Any, tuple[Path]]:
            return Path.touch, (mark,)

    Store(str(tmp_path)).put("file", pickle.dumps(Trap()))
    with pytest.raises(ExecutionError, match="is damaged: ArrowInvalid: Not an Arrow") as caught:
        codec.read(Store(str(tmp_path)), "file")
    assert str(tmp_path / "file") in str(caught.value)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([["ref", 0], [["os.system", 1, {}]]], "objects of a kind 'os.system'"),
        ([["ref", 0], [["physical.keys.hash_rows", 1, {}]]], "objects of a kind"),
        ([["ref", 0], [["runtime.reports.Failure", 9, {}]]], "in version 9, not 1"),
        ([["ref", 0], [["runtime.reports.Failure", 1, {"x": 1}]]], "unknown parts: x"),
        ([["call", "os.system"], []], "values of a kind 'call'"),
        ([["sql", "Parser", {}], []], "SQL of a kind 'Parser'"),
        ([["sql", "tidemill.exp", {}], []], "SQL of a kind"),
        ([["enum", "runtime.reports.Failure", "x"], []], "choice of"),
        ([["array", 7, "<i8", [2]], []], "damaged"),
        ([["function", "f", "1"], []], "use the function `f`, which the engine does not have"),
    ],
)
def test_what_is_not_known_is_an_error(tree: Any, message: str) -> None:
    with pytest.raises(ExecutionError, match=message):
        codec.load(file_of(tree))


def file_of(tree: Any) -> bytearray:
    """A file with any tree."""
    schema = pa.schema([("tree", pa.large_string())], metadata={"tidemill": "1"})
    texts = pa.array([json.dumps(tree)], pa.large_string())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch([texts], schema=schema))
    return bytearray(sink.getvalue())


def test_functions_are_looked_up_by_name_and_version() -> None:
    old, same = (UserFunction("f", lambda x: x + 1, pa.int64()) for _ in range(2))
    other = UserFunction("f", lambda x: x + 2, pa.int64())
    assert again(old, known=codec.KnownFunctions({"f": same})) is same
    with pytest.raises(ExecutionError, match="is not the one that the checkpoint was made with"):
        again(old, known=codec.KnownFunctions({"f": other}))
    said = UserFunction("f", lambda x: x + 2, pa.int64(), version=old.version)
    assert again(old, known=codec.KnownFunctions({"f": said})) is said


def test_files_of_older_versions_can_be_read() -> None:
    """If this fails, teach the decoder the version of these files, and add new ones."""
    engine = engine_of()
    epoch = codec.load(bytearray((FOLDER / "epoch").read_bytes()), known=known_to(engine))
    answers = json.loads((FOLDER / "answers.json").read_text("utf-8"))
    for name, graph in graphs_of(epoch):
        file = bytearray((FOLDER / name).read_bytes())
        graph.state = codec.load(file, into=graph.state)
        assert answers_of(graph) == answers.pop(name)
    assert not answers


def counting(folder: Path, **options: Any) -> tuple[tm.Engine, Any]:
    engine = tm.Engine("inprocess", **options)
    engine.stream("s", pa.schema({"k": pa.string(), "at": pa.int64()}), time="at")
    return engine, engine.run(checkpoint=str(folder), every=None)


def test_a_checkpoint_wants_the_functions_of_its_queries(tmp_path: Path) -> None:
    engine = tm.Engine("inprocess")
    engine.stream("s", pa.schema({"k": pa.string(), "at": pa.int64()}), time="at")
    engine.function("loud", lambda text: text.upper(), "STRING")
    graph = engine.run(checkpoint=str(tmp_path), every=None)
    engine.sql("SELECT LOUD(k) AS l FROM s WINDOW(RANGE 5)").start("memory", name="q")
    engine.push("s", [{"k": "a", "at": 1}])
    graph.tick()
    engine.close()
    with pytest.raises(TidemillError, match="use the function `loud`"):
        counting(tmp_path)
