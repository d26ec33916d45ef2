"""`tidemill top`: what the queries of a server do, as a table that is drawn anew."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidemill.cli.report import reported
from tidemill.client import Client
from tidemill.wire.queries import QueryEntry, QueryProgress
from tidemill.wire.statements import ServerInfo

_COLUMNS = ("query", "state", "rows in/s", "rows out/s", "late", "state rows", "state MB", "lag s")


def top(
    url: Annotated[str, typer.Argument(help="The server.")] = "http://127.0.0.1:8321",
    token: Annotated[
        str | None,
        typer.Option(envvar="TIDEMILL_TOKEN", show_envvar=True, help="The token of the server."),
    ] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look twice, print, and end.")] = False,
) -> None:
    """Show what the queries of a server do: rows, late rows, state and lag, until Ctrl-C."""
    with reported(Console(stderr=True)), Client(url, token) as client:
        looks = _looks(client, every)
        before = next(looks)
        if once:
            Console().print(_drawn(before, next(looks)))
            return
        with Live(_drawn(before, before), auto_refresh=False) as live:
            for now in looks:
                live.update(_drawn(before, now), refresh=True)
                before = now


@dataclass(frozen=True)
class Look:
    """What a server said at some time."""

    at: float
    info: ServerInfo
    queries: dict[str, tuple[QueryEntry, QueryProgress | None]]


def _looks(client: Client, every: float) -> Iterator[Look]:
    while True:
        entries = {
            entry.name: (entry, client.progress(entry.name) if entry.started else None)
            for entry in client.queries()
        }
        yield Look(time.time(), client.info(), entries)
        time.sleep(every)


def _drawn(before: Look, now: Look) -> Group:
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for name in sorted(now.queries):
        table.add_row(*_row(name, before, now))
    ticks = f"{now.info.ticks - before.info.ticks:,} ticks since, {now.info.ticks:,} in all"
    title = f"tidemill {now.info.version}, {now.info.runtime}: {len(now.queries)} queries, {ticks}"
    return Group(Text(title, style="dim"), table)


def _row(name: str, before: Look, now: Look) -> tuple[str, ...]:
    entry, progress = now.queries[name]
    if progress is None:
        return (name, entry.state)
    old = before.queries.get(name, (entry, None))[1] or progress
    seconds = max(now.at - before.at, 1e-3)
    state_bytes = sum(each.state_bytes for each in progress.operators)
    return (
        name,
        entry.state,
        f"{max(0, progress.rows_in - old.rows_in) / seconds:,.0f}",
        f"{max(0, progress.rows_out - old.rows_out) / seconds:,.0f}",
        f"{progress.late_rows:,}",
        f"{sum(each.state_rows for each in progress.operators):,}",
        f"{state_bytes / 1e6:,.1f}",
        _lag(entry, progress, now.at),
    )


def _lag(entry: QueryEntry, progress: QueryProgress, at: float) -> str:
    """How far the slowest source is behind the clock, if time is that of a clock."""
    reached = [each.watermark for each in progress.sources.values() if each.watermark is not None]
    if entry.domain != "microseconds" or not reached:
        return ""
    return f"{max(0.0, at - min(reached) / 1e6):,.1f}"
