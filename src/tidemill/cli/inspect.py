"""`tidemill inspect`: what is in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.runtime.inspecting import Checkpoint, StateFile


def inspect(
    folder: Annotated[str, typer.Argument(help="The checkpoint of a run.")],
    stage: Annotated[int | None, typer.Option(help="Only this stage.")] = None,
    partition: Annotated[int | None, typer.Option(help="Only this partition.")] = None,
    rows: Annotated[int, typer.Option(help="Rows to show of each state.")] = 0,
) -> None:
    """Show what a checkpoint has: ticks, queries with their plans, and the state of operators.

    Nothing in it is run. The checkpoint may be in use.
    """
    with reported(Console(stderr=True)):
        checkpoint = Checkpoint(folder)
        lines = [] if stage is not None or partition is not None else list(_head(checkpoint))
        for file in checkpoint.states(stage, partition):
            lines += _state(file, rows)
        typer.echo("\n".join(lines))


def _head(checkpoint: Checkpoint) -> Iterator[str]:
    manifest, done = checkpoint.manifest, checkpoint.done
    yield f"format {manifest['format']}, {manifest['partitions']} partitions"
    yield f"last tick: {done.tick}" if done.tick >= 0 else "no tick yet"
    for name, place in done.sources.items():
        known = (f"{key}={value}" for key, value in place.items() if not isinstance(value, dict))
        yield f"  {name}: {', '.join(known)}"
    for epoch in checkpoint.epochs:
        yield f"epoch from tick {epoch.tick}, {epoch.staging.partitions} partitions"
        for name, root in epoch.roots.items():
            yield f"  query {name}"
            yield from (f"    {line}" for line in str(root.job.plan).splitlines())


def _state(file: StateFile, rows: int) -> Iterator[str]:
    place = f"stage {file.stage} partition {file.partition}"
    yield f"{place}: {file.kind} of tick {file.tick}, {file.nbytes:,} bytes"
    for number, (label, count, nbytes) in enumerate(file.operators):
        yield f"  {number} {label}: {count:,} rows, {nbytes:,} bytes"
        yield from _columns(file, number, rows)
    if not file.operators:
        yield from _columns(file, None, rows)


def _columns(file: StateFile, operator: int | None, rows: int) -> Iterator[str]:
    for column in file.columns:
        if operator is None or column.operator == operator:
            yield f"      {column.name}: {column.rows:,} × {column.kind}, {column.nbytes:,} bytes"
            if rows and column.rows:
                with pl.Config(tbl_rows=rows, tbl_cols=-1):
                    yield from (f"        {line}" for line in str(column.head(rows)).splitlines())
