"""A server listens before it has caught up."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from tests.server.conftest import BIDS, SETTINGS
from tidemill.server import main
from tidemill.server.main import Serving


def test_it_says_that_it_is_catching_up(monkeypatch: pytest.MonkeyPatch) -> None:
    go, real = Event(), main.begin  # type: ignore[attr-defined]

    def begin(settings: Any, script: Any, tell: Any) -> Any:
        tell("3 of 40 queries run again")
        assert go.wait(20)
        return real(settings, script, tell)

    monkeypatch.setattr(main, "begin", begin)
    monkeypatch.setattr(main, "_MOMENT", 0.0)
    serving = Serving(replace(SETTINGS, port=0), BIDS)
    thread = Thread(target=serving.run)
    thread.start()
    with httpx.Client(base_url=serving.url, timeout=20) as client:
        said = client.get("/api/info")
        assert (said.status_code, said.headers["retry-after"]) == (503, "1")
        assert said.json()["progress"] == "3 of 40 queries run again"
        assert said.headers["x-content-type-options"] == "nosniff"
        go.set()
        serving._starting.done.wait(20)
        assert client.get("/api/queries").json()[0]["name"] == "hot"
    serving.stop()
    thread.join(20)
    assert not thread.is_alive()


def test_a_server_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*arguments: Any) -> Any:
        raise OSError("no such folder")

    monkeypatch.setattr(main, "begin", begin)
    with pytest.raises(OSError, match="no such folder"):
        Serving(replace(SETTINGS, port=0))
