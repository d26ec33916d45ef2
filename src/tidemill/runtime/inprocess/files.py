"""Files as bounded streams: every file is one tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError

_READERS: dict[str, Callable[..., pl.DataFrame]] = {
    "parquet": pl.read_parquet,
    "csv": pl.read_csv,
    "json": pl.read_ndjson,
}


def is_file_format(name: str) -> bool:
    """Whether the format is one that this runtime reads."""
    return name.lower() in _READERS


def file_formats() -> list[str]:
    """The formats that this runtime reads."""
    return sorted(_READERS)


def read_files(
    name: str, format: str, path: str, header: bool, schema: Schema
) -> Iterator[pa.Table]:
    """The tables of all files at a path (a file, folder or pattern), in order of their names."""
    files = _files(Path(path))
    if not files:
        raise ExecutionError(f"no files for `{name}` at {path}", help="check the path option")
    for file in files:
        yield _read(name, format.lower(), file, header, schema)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(f for f in path.rglob("*") if f.is_file() and f.name[0] not in "._")
    if any(letter in str(path) for letter in "*?["):
        return sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    return [path] if path.exists() else []


def _read(name: str, format: str, file: Path, header: bool, schema: Schema) -> pa.Table:
    try:
        if format == "csv":
            frame = pl.read_csv(file, has_header=header, try_parse_dates=True)
        else:
            frame = _READERS[format](file)
        if format == "csv" and not header:
            frame.columns = list(schema.names)
        return frame.select(schema.names).to_arrow().cast(schema.to_arrow())
    except (pl.exceptions.PolarsError, pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ExecutionError(
            f"cannot read {file.name} of `{name}` as {format}: {reason}",
            help=f"the declared columns are: {schema}",
        ) from error
