"""Connections: not too many of them, and none that is kept waiting for the rest of a request."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from collections.abc import Callable
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tidemill.server.settings import Limits

_RATE = 1 << 16
"""Bytes for which a client that goes on sending gets another second."""

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n"
    b"content-length: 0\r\n\r\n"
)
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def patient(limits: Limits) -> Callable[..., Connection]:
    """The protocol of connections within some limits."""
    return partial(Connection, limits=limits)


class Connection(H11Protocol):
    """A connection whose requests have to be there, whole, in some time from their first byte."""

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._timer: TimerHandle | None = None
        self._bytes = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            transport.write(_FULL)
            transport.close()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; what follows has to come in time."""
        if self.transport.is_closing():
            return
        self._bytes += len(data)
        if self._timer is None and self._is_awaited():
            self._wait()
        super().data_received(data)
        if not self._is_awaited():
            self._done_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._done_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on it is a socket, with limits of its own."""
        self._done_waiting()
        super().handle_websocket_upgrade(event)

    def _is_awaited(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait(self) -> None:
        self._bytes = 0
        self._timer = self.loop.call_later(self._limits.request_seconds, self._look, 0)

    def _look(self, seen: int) -> None:
        """Time is up, except for those who have gone on sending."""
        earned = (self._bytes - seen) / _RATE
        if earned >= 1:
            self._timer = self.loop.call_later(earned, self._look, self._bytes)
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_TOO_SLOW)
        self.transport.close()

    def _done_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
