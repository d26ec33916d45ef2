from __future__ import annotations

from tidemill.connectors.sinks import SinkRequest


def test_usual_forms() -> None:
    assert SinkRequest().form == "intervals"
    assert SinkRequest("postgres").form == "snapshot"
    assert SinkRequest("postgres", form="changes").form == "changes"
    assert SinkRequest(lambda table, tick: None).form == "intervals"


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(SinkRequest("postgres", {"password": "secret"}))
