"""What a server tells by itself, over a WebSocket."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tidemill.client.errors import RequestError
from tidemill.client.transport import is_near

_LARGEST = 64 * 2**20


@dataclass(frozen=True)
class Message:
    """News about a topic."""

    topic: str
    data: Any


@contextmanager
def subscribed(
    url: str, token: str | None, topics: Sequence[str], every: int, timeout: float
) -> Iterator[Iterator[Message]]:
    """The messages of a server about some topics, until the block ends."""
    address = f"ws{url.removeprefix('http')}/api/live"
    protocols = None if token is None else [Subprotocol(_protocol(token))]
    proxy: Literal[True] | None = None if is_near(url) else True
    try:
        connection = connect(
            address, subprotocols=protocols, open_timeout=timeout, max_size=_LARGEST, proxy=proxy
        )
    except (OSError, InvalidHandshake) as error:
        help = "is `tidemill serve` running there, and is the token right?"
        raise RequestError(f"the server at {url} sends no updates: {error}", help=help) from error
    with connection:
        connection.send(json.dumps({"subscribe": list(topics), "every": every}))
        yield _messages(connection)


def _protocol(token: str) -> str:
    """How a token is given to a socket.

    >>> _protocol("secret")
    'tidemill.c2VjcmV0'
    """
    return "tidemill." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def _messages(connection: ClientConnection) -> Iterator[Message]:
    try:
        for text in connection:
            found = json.loads(text)
            yield Message(found["topic"], found["data"])
    except ConnectionClosed as error:
        raise RequestError(f"the server has closed the connection: {error}") from error
