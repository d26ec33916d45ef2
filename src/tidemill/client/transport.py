"""Requests to a server, and the errors that can come of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from tidemill.client.errors import RequestError, error_of
from tidemill.client.loopback import is_loopback_place
from tidemill.errors import TidemillError
from tidemill.wire.base import Request

ARROW = "application/vnd.apache.arrow.stream"
_FACTS = b"tidemill"
Parameters = Mapping[str, str | int | None]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Transport:
    """Speaks HTTP with one server."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        self.url = url.rstrip("/")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(
            base_url=f"{_checked(self.url)}/api/",
            headers=headers,
            timeout=timeout,
            # A proxy cannot reach what listens on this machine only.
            trust_env=not is_near(self.url),
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def ask(
        self,
        shape: type[T],
        method: str,
        path: str,
        body: Request | list[Any] | None = None,
        parameters: Parameters = MappingProxyType({}),
    ) -> T:
        """An answer of a shape; errors know the SQL in the `body`."""
        return self._understood(shape, self._send(method, path, body, parameters, {}))

    def arrow(
        self, method: str, path: str, body: Request | None, parameters: Parameters
    ) -> tuple[pa.Table, Mapping[str, Any]]:
        """The table of an answer, and the facts that come with it."""
        answer = self._send(method, path, body, parameters, {"Accept": ARROW})
        with pa.ipc.open_stream(answer.content) as reader:
            table = reader.read_all()
        facts = json.loads((table.schema.metadata or {}).get(_FACTS, b"{}"))
        return table.replace_schema_metadata(None), facts

    def send_table(self, shape: type[T], path: str, table: pa.Table, parameters: Parameters) -> T:
        """Send rows as Arrow; the answer."""
        buffer = pa.BufferOutputStream()
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
        body = buffer.getvalue().to_pybytes()
        answer = self._send("POST", path, body, parameters, {"Content-Type": ARROW})
        return self._understood(shape, answer)

    def _understood(self, shape: type[T], answer: httpx.Response) -> T:
        try:
            return TypeAdapter(shape).validate_python(_parsed(answer))
        except ValidationError as error:
            first = error.errors()[0]
            what = ".".join(map(str, first["loc"]))
            help = "is it as new as this client?"
            raise RequestError(
                f"the server at {self.url} did not say `{what}` as expected", help=help
            ) from None

    def _send(
        self,
        method: str,
        path: str,
        body: Request | list[Any] | bytes | None,
        parameters: Parameters,
        headers: dict[str, str],
    ) -> httpx.Response:
        wanted = {name: value for name, value in parameters.items() if value is not None}
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
        try:
            answer = self._http.request(
                method, path, params=wanted, content=_content(body), headers=headers
            )
        except httpx.TimeoutException as error:
            raise self._away("does not answer in time", "it may be busy: try again") from error
        except httpx.HTTPError as error:
            raise self._away("cannot be reached", "is `tidemill serve` running there?") from error
        if answer.status_code >= 400:
            raise error_of(answer.status_code, _parsed(answer), getattr(body, "sql", None))
        return answer

    def _away(self, what: str, help: str) -> RequestError:
        error = RequestError(f"the server at {self.url} {what}", help=help)
        error.kind = "away"
        return error


def _content(body: Request | list[Any] | bytes | None) -> bytes | None:
    if isinstance(body, Request):
        return body.model_dump_json(exclude_defaults=True).encode()
    return json.dumps(body).encode() if isinstance(body, list) else body


def request_of(shape: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """A request; what is wrong with it is told as a server would.

    >>> request_of(Request, colour="blue")
    Traceback (most recent call last):
    tidemill.client.errors.RequestError: error: colour: Extra inputs are not permitted
    """
    try:
        return shape(*given, **named)
    except ValidationError as error:
        first = error.errors()[0]
        raise RequestError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def path_to(*parts: str | int) -> str:
    """The parts of a path, whatever signs are in them.

    >>> path_to("queries", "a/b", "plan")
    'queries/a%2Fb/plan'
    """
    return "/".join(quote(str(part), safe="") for part in parts)


def is_near(url: str) -> bool:
    """Whether an address is one of this machine that others cannot reach.

    >>> is_near("http://127.0.0.1:8321"), is_near("http://db.example.org")
    (True, False)
    """
    return is_loopback_place(urlsplit(url).netloc.rpartition("@")[2])


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        help = "write for example http://127.0.0.1:8321"
        raise TidemillError(f"`{url}` is not the address of a server", help=help)
    return url


def _parsed(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        if answer.status_code >= 400:
            return {}
        help = "is it a Tidemill server?"
        raise TidemillError(f"{answer.url} did not answer with JSON", help=help) from None
