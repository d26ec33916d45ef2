"""Files in every form and format: ticks done again, crashes, empty ticks, and broken folders."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

from tests.connectors.sinks.rows import (
    FORMS,
    LOOKS,
    MICROSECONDS,
    NAMES,
    SCHEMA,
    TWO,
    given,
    rows,
    tuples,
)
from tidemill.connectors.sinks import PartSink, SinkRequest, make_sink
from tidemill.connectors.sinks.encoding import FORMATS
from tidemill.errors import ExecutionError

READERS: dict[str, Callable[[Path], Any]] = {
    "parquet": pl.read_parquet,
    "csv": lambda path: pl.read_csv(path, schema_overrides={"s": pl.String}),
    "json": pl.read_ndjson,
    "arrow": pl.read_ipc,
    "orc": lambda path: pl.DataFrame(pyarrow.dataset.dataset(path, format="orc").to_table()),
}


def sink_of(path: Path, form: str = "intervals", format: str = "parquet", **more: Any) -> PartSink:
    header = {"header": True} if format == "csv" else {}
    options = {"path": str(path), **header, **more}
    request = SinkRequest(format, options, form)
    sink = make_sink(request, SCHEMA, None, lambda: "q", spark_formats=False)
    assert isinstance(sink, PartSink)
    return sink


def write(sink: PartSink, tick: int, *parts: pl.DataFrame) -> list[str]:
    """A tick of several parts, from the first task to the driver."""
    there = pickle.loads(pickle.dumps(sink.writer))
    written = [there.write(given, tick, part) for part, given in enumerate(parts)]
    names = [name for name in written if name is not None]
    sink.finish(tick, names)
    return names


def files(path: Path) -> list[str]:
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


def read(path: Path) -> list[tuple[Any, ...]]:
    """All rows below a folder, as any reader of Parquet finds them."""
    return tuples(pyarrow.dataset.dataset(path, format="parquet").to_table())


NOTHING = TWO.clear()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_every_format(tmp_path: Path, form: str, format: str) -> None:
    sink = sink_of(tmp_path, form, format)
    assert sink.form == form
    (name,) = write(sink, 12, given(form))
    folder = "snapshot=00000012" if form == "snapshot" else "tick=00000012"
    assert name == f"{folder}/part-00000.{format}"
    assert files(tmp_path) == [f"{folder}/_SUCCESS", name]
    found = READERS[format](tmp_path / name)
    assert set(found.columns) <= set(NAMES[form])
    # What is NULL is left out of JSON.
    whole = found.with_columns(pl.lit(None).alias(n) for n in NAMES[form] if n not in found.columns)
    assert whole.select(NAMES[form]).rows() == LOOKS[form]


def test_parts_of_a_tick(tmp_path: Path) -> None:
    sink = sink_of(tmp_path)
    names = write(sink, 0, TWO[:1], NOTHING, TWO[1:])
    assert names == ["tick=00000000/part-00000.parquet", "tick=00000000/part-00002.parquet"]
    write(sink, 1, rows((3, "c", 5, 6)))
    assert sorted(read(tmp_path)) == [*LOOKS["intervals"], (3, "c", 5, 6)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", ["changes", "snapshot"])
def test_a_tick_without_rows(tmp_path: Path, form: str, format: str) -> None:
    """There is a file that says which columns there are."""
    sink = sink_of(tmp_path, form, format)
    assert sink.writer.write(given(form, NOTHING), 7, 0) is None
    sink.finish(7, [])
    folder = "snapshot=00000007" if form == "snapshot" else "tick=00000007"
    assert files(tmp_path) == [f"{folder}/_SUCCESS", f"{folder}/part-00000.{format}"]
    if format != "json":
        assert READERS[format](tmp_path / f"{folder}/part-00000.{format}").columns == NAMES[form]


def test_a_tick_done_again(tmp_path: Path) -> None:
    """With other parts, and after a crash between the parts and the end."""
    sink = sink_of(tmp_path)
    sink.writer.write(TWO[:1], 5, 0)
    sink.writer.write(TWO[1:], 5, 9)
    (tmp_path / "tick=00000005/.part-00003.parquet.0.temporary").write_bytes(b"half of it")
    assert not (tmp_path / "tick=00000005/_SUCCESS").exists()
    for _ in range(2):
        write(sink_of(tmp_path), 5, NOTHING, TWO)
        assert files(tmp_path) == [
            "tick=00000005/_SUCCESS",
            "tick=00000005/part-00001.parquet",
        ]
        assert read(tmp_path) == LOOKS["intervals"]
    write(sink, 5, NOTHING)
    assert read(tmp_path) == []


class TestSnapshots:
    def test_only_the_newest_stays(self, tmp_path: Path) -> None:
        (tmp_path / "_other").write_text("stays")
        sink = sink_of(tmp_path, "snapshot")
        for tick in range(3):
            write(sink, tick, TWO, rows((tick, "c", 5, 6)))
            assert [p.name for p in tmp_path.glob("snapshot=*")] == [f"snapshot={tick:08d}"]
            assert read(tmp_path) == [*LOOKS["snapshot"], (tick, "c", 5)]
        assert (tmp_path / "_other").read_text() == "stays"

    def test_a_tick_done_again_leaves_the_same(self, tmp_path: Path) -> None:
        names = []
        for _ in range(3):
            write(sink_of(tmp_path, "snapshot"), 7, TWO)
            names += [path.name for path in tmp_path.iterdir()]
            assert read(tmp_path) == LOOKS["snapshot"]
        assert names == ["snapshot=00000007", "snapshot=000000007", "snapshot=00000007"]

    def test_there_is_a_whole_one_at_every_moment(self, tmp_path: Path) -> None:
        sink = sink_of(tmp_path, "snapshot")
        write(sink, 7, TWO)
        for tick in (7, 8):
            sink.writer.write(rows((9, "z", 1, 2)), tick, 4)
            (whole,) = {path.parent for path in tmp_path.glob("*/_SUCCESS")}
            assert read(whole) == LOOKS["snapshot"]

    def test_leavings_of_a_crash_go(self, tmp_path: Path) -> None:
        sink = sink_of(tmp_path, "snapshot")
        write(sink, 7, TWO)
        sink.writer.write(rows((9, "z", 1, 2)), 8, 4)
        write(sink, 8, TWO)
        assert files(tmp_path) == [
            "snapshot=00000008/_SUCCESS",
            "snapshot=00000008/part-00000.parquet",
        ]


def test_times_have_no_zone(tmp_path: Path) -> None:
    request = SinkRequest("parquet", {"path": str(tmp_path)})
    sink = make_sink(request, SCHEMA, MICROSECONDS, lambda: "q", spark_formats=False)
    assert isinstance(sink, PartSink)
    (name,) = write(sink, 0, TWO)
    schema = pa.parquet.read_schema(tmp_path / name)
    assert schema.field("valid_from").type == pa.timestamp("us")


def test_a_relative_path_is_that_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sink = sink_of(Path("results/with a space, ü and %"))
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    write(sink, 0, TWO)
    assert read(tmp_path / "results/with a space, ü and %") == LOOKS["intervals"]


def test_names_of_compressed_files(tmp_path: Path) -> None:
    (name,) = write(sink_of(tmp_path, format="csv", compression="gzip"), 0, TWO)
    assert name == "tick=00000000/part-00000.csv.gz"
    assert pl.read_csv(tmp_path / name).rows() == LOOKS["intervals"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    sink = sink_of(tmp_path / "taken")
    with pytest.raises(ExecutionError, match=r"results cannot be written to file:.*/taken"):
        sink.writer.write(TWO, 0, 0)
    with pytest.raises(ExecutionError, match="and start the query again"):
        sink.finish(0, [])
    assert files(tmp_path) == ["taken"]


def test_no_half_files_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the disk is full."""
    sink = sink_of(tmp_path)

    def full(*arguments: Any, **more: Any) -> int:
        (tmp_path / arguments[1]).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("tidemill.store.Store._write", full)
    with pytest.raises(ExecutionError, match="No space left on device"):
        sink.writer.write(TWO, 0, 0)
    assert files(tmp_path) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_path_is_needed(format: str) -> None:
    with pytest.raises(ExecutionError, match=f"the sink {format} needs a path"):
        make_sink(SinkRequest(format), SCHEMA, None, lambda: "q", spark_formats=True)
