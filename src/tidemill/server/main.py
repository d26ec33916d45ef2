"""A server from its start to its end."""

from __future__ import annotations

import gc
import re
import signal
import socket
import ssl
from asyncio import Protocol
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from rich.console import Console

from tidemill.engine.tables import duration
from tidemill.errors import TidemillError
from tidemill.server.app import create_app
from tidemill.server.connections import patient
from tidemill.server.security import refuse_open_door
from tidemill.server.settings import Settings
from tidemill.server.starting import Starting
from tidemill.server.startup import Tell, begin
from tidemill.timeline import TimeDomain

_UNITS = {"ms": "milliseconds", "s": "seconds", "min": "minutes"}
_WAITING = 2048
"""Connections that may wait to be taken."""
_MOMENT = 1.0
"""Seconds in which most servers are ready: then there is nothing to tell."""
_GOODBYE = 3
"""Seconds that clients have to go when the server stops."""


def seconds(text: str) -> float:
    """A length of time, as users write it.

    >>> seconds("500 ms"), seconds("2 seconds"), seconds("1s")
    (0.5, 2.0, 1.0)
    """
    found = re.fullmatch(r"\s*(\d+)\s*([a-zA-Z]+)\s*", text)
    if found is None:
        raise TidemillError(f"`{text}` is not a duration", help="for example '500 ms'")
    unit = _UNITS.get(found[2].lower(), found[2])
    return max(duration(f"{found[1]} {unit}", TimeDomain.MICROSECONDS), 1000) / 1_000_000


class Serving:
    """An engine that is served: its app, and the socket on which it listens.

    It listens at once. What there is to catch up with after a restart may take longer; until then
    it tells those who ask to come back.
    """

    def __init__(self, settings: Settings, script: str | None = None) -> None:
        refuse_open_door(settings)
        self.settings = settings
        refuse_bad_certificate(settings)
        self._socket = _listen(settings.host, settings.port)
        self._script = script
        self._server: _Server | None = None
        self._ready: Callable[[], None] = lambda: None
        self._starting = Starting(self._make, settings)
        self._starting.done.wait(_MOMENT)
        self._raise()

    def _make(self, tell: Tell) -> FastAPI:
        self.service = begin(self.settings, self._script, tell)
        self._demo: Any = None
        if self.settings.demo:
            from tidemill.server.demo import open_house

            self._demo = open_house(self.service)
        return create_app(self.service, self.settings)

    def _raise(self) -> None:
        if self._starting.error is not None:
            self._socket.close()
            raise self._starting.error

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self.settings.tls_cert is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/"

    def announce(self, console: Console) -> None:
        """Say where the server is, now and when it is ready."""
        if self._starting.app is not None:
            self._announce(console)
            return
        text = f"Tidemill listens on {self.url} and is catching up: {self._starting.progress}"
        console.print(text, highlight=False, soft_wrap=True, style="dim")
        self._ready = lambda: self._announce(console)

    def _announce(self, console: Console) -> None:
        where = self.service.engine.title
        text = f"Tidemill is served at {self.url}, {where} (Ctrl-C stops it)"
        console.print(text, highlight=False, soft_wrap=True)
        if self.service.goes_on:
            count = len(self.service.graph.queries)
            text = f"it goes on where it was, with {count} queries; files are not run again"
            console.print(text, highlight=False, style="dim")
        self._tell_difference(console)

    def _tell_difference(self, console: Console) -> None:
        """Say how the file differs from what runs, or what was done about it."""
        lines = list(self.service.differs.lines())
        if not lines:
            return
        help = "" if self.settings.apply else "; --apply changes what is new or changed"
        title = "the file was applied:" if self.settings.apply else f"the file differs{help}:"
        console.print("\n  ".join([title, *lines]), highlight=False, markup=False)

    def run(self) -> None:
        """Serve until a signal to stop comes, or until it turns out that it cannot start."""
        config = uvicorn.Config(
            self._starting,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            http=cast(type[Protocol], patient(self.settings.limits)),
            timeout_graceful_shutdown=_GOODBYE,
            ws_max_size=1 << 16,
            ssl_certfile=self.settings.tls_cert,
            ssl_keyfile=self.settings.tls_key,
        )
        server = self._server = _Server(config, self._starting)
        waiting = Thread(target=self._begin, args=(server,), daemon=True)
        waiting.start()
        try:
            server.run(sockets=[self._socket])
        finally:
            waiting.join()
            gc.unfreeze()
            if self._starting.app is not None and self._demo is not None:
                self._demo.stop()
        self._raise()

    def _begin(self, server: uvicorn.Server) -> None:
        self._starting.done.wait()
        if self._starting.app is None:
            server.should_exit = True
            return
        # What there is now is there for good: to look through it for garbage, again and again,
        # took longer than to plan a query.
        gc.collect()
        gc.freeze()
        self._ready()
        if self._demo is not None:
            self._demo.start()

    def stop(self) -> None:
        """End `run`, from another thread."""
        if self._server is not None:
            self._server.should_exit = True


def refuse_bad_certificate(settings: Settings) -> None:
    """A certificate that cannot be used is an error before anything is started."""
    if settings.tls_cert is None and settings.tls_key is None:
        return
    if settings.tls_cert is None or settings.tls_key is None:
        raise TidemillError("TLS needs a certificate and its key", help="--tls-cert and --tls-key")
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or "it is not in PEM form"
        help = "PEM files: the certificate with its chain, and its key without a password"
        message = f"the certificate {settings.tls_cert} cannot be used: {reason}"
        raise TidemillError(message, help=help) from None


class _Server(uvicorn.Server):
    """A server that sends its clients home before it stops, and ends well."""

    def __init__(self, config: uvicorn.Config, starting: Starting) -> None:
        super().__init__(config)
        self._starting = starting

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close sockets with a word, then everything else."""
        if self._starting.app is not None:
            await self._starting.app.state.live.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop when a signal comes. That is no error: the signal is not raised again."""
        if current_thread() is not main_thread():
            yield
            return
        stops = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in stops}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _listen(host: str, port: int) -> socket.socket:
    """A socket on an address; errors come before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol, connections send at once what they have. Else the end of an answer waits
    # for the client to acknowledge its beginning, which takes 40 ms.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        # Whoever reads where the server is may ask at once; it answers when it is ready.
        found.listen(_WAITING)
        found.listen()  # whoever reads the announcement can connect
    except OSError as error:
        found.close()
        help = "choose another with --host or --port"
        raise TidemillError(
            f"cannot listen on {host}:{port}: {error.strerror}", help=help
        ) from None
    return found
