"""`tidemill nexmark` and `tidemill bench`: the auction benchmark and its data."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tidemill import Engine
from tidemill.cli.report import reported
from tidemill.cli.spark import start_spark

if TYPE_CHECKING:
    from tidemill.nexmark.bench.measure import Outcome
    from tidemill.nexmark.bench.run import Plan

# What needs Spark is imported where it is used: other commands start faster without it.

nexmark = typer.Typer(help="The auction benchmark: its data.", no_args_is_help=True)
bench = typer.Typer(help="Measure Tidemill against other systems.", no_args_is_help=True)


@nexmark.callback()
def _nexmark() -> None:
    """The auction benchmark: its data."""


@nexmark.command()
def generate(
    path: Annotated[Path, typer.Argument(help="A folder for the four streams.")] = Path("nexmark"),
    bids: Annotated[int, typer.Option(min=1, help="How many bids; the rest follows.")] = 100_000,
    files: Annotated[int, typer.Option(min=1, help="Files of each stream: ticks.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 1,
) -> None:
    """Write the streams of an auction house as Parquet files in the order of time.

    Ten bids to an auction, ten auctions to a person, auctions of two days at most, bids in bursts.
    The queries of examples/auction read the folder `nexmark`.
    """
    from tidemill.nexmark.generate import generate as generate_streams

    notes = Console(stderr=True)
    with reported(notes), Engine() as engine:
        start_spark(engine, notes)
        with notes.status(f"generating {bids:,} bids"):
            size = generate_streams(engine.spark, path, bids, files, seed)
    typer.echo(
        f"{path}: {size.bids:,} bids, {size.auctions:,} auctions opened and closed, "
        f"{size.persons:,} persons"
    )


@bench.callback()
def _bench() -> None:
    """Measure Tidemill against other systems."""


@bench.command("nexmark")
def bench_nexmark(
    events: Annotated[int, typer.Option(min=1, help="How many rows in all streams.")] = 1_000_000,
    queries: Annotated[str, typer.Option(help="For example q1,counts; all by default.")] = "",
    peers: Annotated[str, typer.Option(help="Of spark, flink and inprocess.")] = "spark,inprocess",
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all figures to a file.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep the data in a folder and use it again.")
    ] = None,
) -> None:
    """Run the queries of the auction benchmark in Tidemill and in other systems.

    All read the same files, one after the other; start-up is not measured. Flink needs
    `make bench-peers` once.
    """
    from tidemill.nexmark.bench.run import Plan, as_json
    from tidemill.nexmark.queries import choose

    notes = Console(stderr=True)
    with reported(notes), tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
        named = [peer.strip() for peer in peers.split(",") if peer.strip()]
        plan = Plan(events, choose(queries), named, (data or Path(folder)).absolute())
        outcomes = _measured(plan, notes)
        if json_file is not None:
            json_file.write_text(json.dumps(as_json(plan, outcomes), indent=2) + "\n")


def _measured(plan: Plan, notes: Console) -> list[Outcome]:
    from tidemill.nexmark.bench.run import Bench
    from tidemill.nexmark.bench.table import phases_table, systems_table

    with Engine() as engine, notes.status("starting Spark") as now:
        outcomes = list(Bench(engine.spark, plan, now.update).run())
    # Tables that go to a file or a pipe keep their width.
    width = None if sys.stdout.isatty() else 160
    console = Console(highlight=False, width=width)
    console.print(systems_table(outcomes), phases_table(outcomes))
    return outcomes
