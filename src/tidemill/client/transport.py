"""Requests to a server, and the errors that can come of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pyarrow as pa

from tidemill.client.errors import RequestError, error_of
from tidemill.client.loopback import is_loopback_place
from tidemill.errors import TidemillError

ARROW = "application/vnd.apache.arrow.stream"
_FACTS = b"tidemill"


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

    def json(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The JSON of an answer; `body` is sent as JSON, and errors know the SQL in it."""
        sql = body.get("sql") if isinstance(body, dict) else None
        given = {"content": json.dumps(body)} if body is not None else {}
        headers = {"Content-Type": "application/json"} if body is not None else {}
        answer = self._send(method, path, sql, parameters, headers=headers, **given)
        return _parsed(answer)

    def arrow(
        self, method: str, path: str, body: Any = None, **parameters: Any
    ) -> tuple[pa.Table, Mapping[str, Any]]:
        """The table of an answer, and the facts that come with it."""
        sql = body.get("sql") if isinstance(body, dict) else None
        headers = {"Accept": ARROW}
        answer = self._send(method, path, sql, parameters, headers=headers, json=body)
        with pa.ipc.open_stream(answer.content) as reader:
            table = reader.read_all()
        facts = json.loads((table.schema.metadata or {}).get(_FACTS, b"{}"))
        return table.replace_schema_metadata(None), facts

    def send_table(self, path: str, table: pa.Table, **parameters: Any) -> Any:
        """Send rows as Arrow; the JSON of the answer."""
        buffer = pa.BufferOutputStream()
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
        headers = {"Content-Type": ARROW}
        content = buffer.getvalue().to_pybytes()
        return _parsed(self._send("POST", path, None, parameters, headers=headers, content=content))

    def _send(
        self, method: str, path: str, sql: str | None, parameters: Mapping[str, Any], **given: Any
    ) -> httpx.Response:
        wanted = {name: value for name, value in parameters.items() if value is not None}
        try:
            answer = self._http.request(method, path, params=wanted, **given)
        except httpx.TimeoutException as error:
            raise self._away("does not answer in time", "it may be busy: try again") from error
        except httpx.HTTPError as error:
            raise self._away("cannot be reached", "is `tidemill serve` running there?") from error
        if answer.status_code >= 400:
            raise error_of(answer.status_code, _parsed(answer), sql)
        return answer

    def _away(self, what: str, help: str) -> RequestError:
        error = RequestError(f"the server at {self.url} {what}", help=help)
        error.kind = "away"
        return error


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
