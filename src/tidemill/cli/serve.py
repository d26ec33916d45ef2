"""`tidemill serve`: an engine over HTTP, with its page."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.cli.script import File, Runtime, read


def serve(
    file: File = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port.")] = 8321,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="The time between ticks: '500 ms'.")
    ] = "500 ms",
    runtime: Annotated[
        Runtime, typer.Option(help="This process, or Spark on this machine.")
    ] = Runtime.INPROCESS,
    demo: Annotated[
        bool, typer.Option("--demo", help="An auction house that never closes, and eight queries.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve an engine: an API over HTTP under /api, and a page to watch it."""
    from tidemill.server.main import Serving, seconds
    from tidemill.server.settings import Settings

    notes = Console(stderr=True)
    with reported(notes):
        settings = Settings(
            host=host, port=port, every=seconds(every), runtime=runtime.value, demo=demo
        )
        serving = Serving(settings, None if file is None else read(file))
        serving.announce(notes)
        if open_page:
            webbrowser.open(serving.url)
        serving.run()
