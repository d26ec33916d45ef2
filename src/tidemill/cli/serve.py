"""`tidemill serve`: an engine over HTTP, with its page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.cli.script import File, Lasting, Latency, Partitions, read
from tidemill.cli.spark import Where, chosen
from tidemill.server.settings import LOG_LEVELS, Limits, Settings
from tidemill.store import durability_of

_MOST = Limits()


def serve(
    file: File = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; all but loopback need a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")
    ] = 8321,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="TIDEMILL_TOKEN",
            show_envvar=True,
            help="The token that clients must send. Others on this machine can see options: "
            "better use the variable.",
        ),
    ] = None,
    read_token: Annotated[
        str | None,
        typer.Option(
            envvar="TIDEMILL_READ_TOKEN",
            show_envvar=True,
            help="A second token, whose owners may read but change nothing.",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(help="A certificate with its chain (PEM), for HTTPS.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The key of the certificate (PEM).")] = None,
    log_level: Annotated[
        str,
        typer.Option(
            metavar="|".join(LOG_LEVELS), help="What is logged on standard error, as lines of JSON."
        ),
    ] = "off",
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="A folder from which the server resumes."),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="After a restart, change what differs from FILE.sql."),
    ] = False,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="The time between ticks, if something is new.")
    ] = "100 ms",
    latency: Latency = "1 second",
    partitions: Partitions = None,
    runtime: Where = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH_OR_URL",
            help="A folder, a server, or a format (`delta()`) that clients may use.",
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="BYTES", help="A memory bound for the graph: 2GB.")
    ] = None,
    cpu: Annotated[float | None, typer.Option(help="A CPU bound for the graph, in cores.")] = None,
    late: Annotated[
        str | None, typer.Option(metavar="PATH", help="A folder for late rows.")
    ] = None,
    durability: Lasting = "machine",
    max_body: Annotated[int, typer.Option(help="Bytes per request.")] = _MOST.body_bytes,
    max_rows: Annotated[int, typer.Option(help="Rows per answer.")] = _MOST.result_rows,
    max_kept: Annotated[int, typer.Option(help="Rows kept per query.")] = _MOST.kept_rows,
    max_queries: Annotated[int, typer.Option(help="Queries.")] = _MOST.queries,
    max_sockets: Annotated[int, typer.Option(help="Sockets at a time.")] = _MOST.sockets,
    max_seconds: Annotated[
        float, typer.Option(help="Seconds per query of /api/run.")
    ] = _MOST.run_seconds,
    max_tick_seconds: Annotated[
        float, typer.Option(help="Seconds of a query in one tick.")
    ] = _MOST.tick_seconds,
    max_step_rows: Annotated[
        int, typer.Option(help="Rows that a join or window gives in one tick.")
    ] = _MOST.step_rows,
    max_connections: Annotated[
        int, typer.Option(help="Connections at a time.")
    ] = _MOST.connections,
    demo: Annotated[
        bool, typer.Option("--demo", help="An auction house that never closes, and eight queries.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve an engine: an HTTP API under /api, and a web page.

    The statements of FILE.sql are run first. Its queries start at once; those without a name get
    one. With --dir, a server that was stopped, or killed, resumes where it was; then the file is
    not run again: what differs is said, and --apply changes it.
    """
    from tidemill.server.logs import write_logs
    from tidemill.server.main import Serving, seconds

    notes = Console(stderr=True)
    limits = Limits(
        body_bytes=max_body,
        result_rows=max_rows,
        kept_rows=max_kept,
        queries=max_queries,
        sockets=max_sockets,
        run_seconds=max_seconds,
        tick_seconds=max_tick_seconds,
        step_rows=max_step_rows,
        connections=max_connections,
    )
    with reported(notes):
        write_logs(log_level.lower())
        settings = Settings(
            host,
            port,
            token or None,
            folder,
            seconds(every),
            tuple(allow or ()),
            chosen(runtime, notes).value,
            memory,
            cpu,
            demo,
            limits,
            late,
            durability_of(durability),
            latency,
            partitions,
            read_token=read_token or None,
            tls_cert=tls_cert,
            tls_key=tls_key,
            apply=apply,
        )
        serving = Serving(settings, None if file is None else read(file))
        serving.announce(notes)
        if open_page:
            webbrowser.open(serving.url)
        serving.run()
