"""`tidemill nexmark`: the data of the auction benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidemill import Engine
from tidemill.cli.report import reported
from tidemill.cli.spark import tell_where

# What needs Spark is imported where it is used: other commands start faster without it.

nexmark = typer.Typer(help="The auction benchmark: its data.", no_args_is_help=True)


@nexmark.callback()
def _nexmark() -> None:
    """The auction benchmark: its data."""


@nexmark.command()
def generate(
    path: Annotated[Path, typer.Argument(help="A folder for the four streams.")] = Path("nexmark"),
    bids: Annotated[int, typer.Option(min=1, help="How many bids to write.")] = 100_000,
    files: Annotated[int, typer.Option(min=1, help="Files per stream.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 1,
) -> None:
    """Write the streams of an auction house as Parquet files, ordered by time.

    There are ten bids per auction and ten auctions per person. Auctions last two days at most.
    The queries of examples/auction read the folder `nexmark`.
    """
    from tidemill.nexmark.generate import generate as generate_streams

    notes = Console(stderr=True)
    with reported(notes), Engine() as engine:
        tell_where(engine, notes)
        with notes.status(f"generating {bids:,} bids"):
            size = generate_streams(engine.spark, path, bids, files, seed)
    typer.echo(
        f"{path}: {size.bids:,} bids, {size.auctions:,} auctions opened and closed, "
        f"{size.persons:,} persons"
    )
