"""`tidemill demo`: eight questions to an auction house, on Spark; or a tour without it."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.cli.script import Runtime
from tidemill.cli.serve import serve
from tidemill.cli.show import show_links, wide_console
from tidemill.cli.spark import chosen
from tidemill.cli.tour import tour

_LINKS = (
    ("tidemill demo --runtime inprocess", "the ideas one by one"),
    ("tidemill nexmark generate", "these streams, as files"),
    ("tidemill run examples/auction/q6_hot_item.sql", "one question to them"),
    ("tidemill explain examples/auction/q6_hot_item.sql", "its plan"),
    ("tidemill serve --demo --open", "the page: these queries, live"),
    ("tidemill shell", "SQL, line by line"),
    ("docs/getting-started.md", "from Python, step by step"),
    ("docs/language.md", "the whole language"),
)


def demo(
    runtime: Annotated[
        Runtime | None,
        typer.Option(
            help="Spark on this machine, or a tour in this process (no Java). "
            "Default: Spark, if there is Java.",
            show_default=False,
        ),
    ] = None,
    bids: Annotated[int, typer.Option(min=1000, help="How many bids to generate.")] = 200_000,
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter after each step.")] = False,
) -> None:
    """Ask an auction house eight questions at once, on Spark, and see some answers."""
    console, notes = wide_console(), Console(stderr=True)
    with reported(notes):
        if chosen(runtime, notes) is Runtime.INPROCESS:
            tour(console, pause)
            return
        from tidemill.cli.house import House  # which needs PySpark

        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="tidemill-demo-") as folder:
            House(console, Path(folder), bids, pause).visit()
        show_links(console, _LINKS, f"The demo took {time.perf_counter() - began:.0f} s.")
    offer_the_page(console)


def offer_the_page(console: Console) -> None:
    """Where somebody is there to answer, ask whether to go on in a browser."""
    if not (console.is_terminal and sys.stdin.isatty()):
        return
    console.print("\nThe same queries run live on a page, over an auction house that never closes.")
    if typer.confirm("Open it in a browser?", default=False):
        serve(demo=True, open_page=True)
