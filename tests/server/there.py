"""A client in another network: `python there.py URL`, with requests as JSON on its input."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def ask(client: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    """One request."""
    body = {"json": {}} if asked["method"] in ("POST", "PATCH") else {}
    found = client.request(asked["method"], asked["path"], headers=asked["headers"], **body)
    return {"status": found.status_code, "text": found.text}


def listen(url: str, offered: list[str], token: str) -> dict[str, Any]:
    """Try to hear something from the socket; TOKEN stands for the token as sockets bring it."""
    coded = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
    protocols = [f"tidemill.{coded}" if each == "TOKEN" else each for each in offered]
    try:
        with connect(url, subprotocols=protocols or None) as socket:  # type: ignore[arg-type]
            socket.send('{"subscribe": ["queries"]}')
            return {"heard": "topic" in json.loads(socket.recv(10))}
    except InvalidStatus as refused:
        return {"heard": False, "status": refused.response.status_code}
    except ConnectionClosed as closed:
        return {"heard": False, "status": closed.rcvd.code if closed.rcvd else 0}


def main() -> None:
    url = sys.argv[1]
    with httpx.Client(base_url=url, timeout=20) as client:
        print(
            json.dumps(
                [
                    listen(url.replace("http", "ws") + "/api/live", each["socket"], each["token"])
                    if "socket" in each
                    else ask(client, each)
                    for each in json.load(sys.stdin)
                ]
            )
        )


if __name__ == "__main__":
    main()
