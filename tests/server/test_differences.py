"""A file that differs from what runs: it is told, and applied if one wants that."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

from tests.server.conftest import BIDS, SETTINGS, serving
from tidemill.errors import TidemillError
from tidemill.server import begin
from tidemill.server.differences import difference
from tidemill.server.main import Serving
from tidemill.sql import parse

WIDER = BIDS.replace("RANGE 10", "RANGE 20")
MORE = f"{BIDS}; SELECT item FROM bid WINDOW(RANGE 5)"


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        (BIDS, []),
        (BIDS.replace("\n", "\n\n").replace("SELECT", "select"), []),
        (WIDER, ["changed   hot"]),
        (MORE, ["new       q1"]),
        (BIDS.replace("price DOUBLE", "price BIGINT"), ["fixed     bid"]),
        (BIDS.replace("hot", "cold"), ["new       cold", "besides   hot"]),
        (BIDS.replace("AS SELECT", "AS INSERT INTO csv(path => 'x') SELECT"), ["fixed     hot"]),
    ],
)
def test_what_differs(file: str, lines: list[str]) -> None:
    found = difference(parse(file) if file is not MORE else _named(file), parse(BIDS)).lines()
    assert [line.partition(":")[0] for line in found] == lines


def _named(file):
    from tidemill.server.startup import _named

    return _named(parse(file))


def test_a_file_is_applied_only_if_one_wants_that(tmp_path):
    settings = replace(SETTINGS, folder=tmp_path)
    for server in serving(settings, BIDS):
        server.push((1, 1.0, 1), (1, 1.0, 5))
    file = f"{WIDER}; SELECT item FROM bid WINDOW(RANGE 5)"
    service = begin(settings, file)
    assert [line.split() for line in service.differs.lines()] == [["changed", "hot"], ["new", "q1"]]
    assert list(service.graph.running) == ["hot"]
    assert "RANGE 10" in service.engine.queries.find("hot").sql
    service.stop()
    for server in serving(replace(settings, apply=True), file):
        server.push((1, 1.0, 30))
        assert server.get("queries/q1")["state"] == "running"
    for server in serving(settings, file):  # and it is known from now on
        assert "RANGE 20" in server.get("queries/hot")["sql"]
        assert server.get("queries/q1")["state"] == "running"
    service = begin(settings, file)
    assert list(service.differs.lines()) == []
    service.stop()


def test_a_file_with_mistakes_does_not_keep_a_server_from_going_on(tmp_path):
    settings = replace(SETTINGS, folder=tmp_path)
    begin(settings, BIDS).stop()
    service = begin(settings, f"{BIDS}; SELEKT 1")
    assert "hot" in service.graph.running
    assert "it cannot be read" in next(iter(service.differs.lines()))
    service.stop()
    with pytest.raises(TidemillError):
        begin(replace(settings, apply=True), f"{BIDS}; SELEKT 1")


def test_it_is_said(tmp_path):
    out = io.StringIO()
    service = SimpleNamespace(differs=difference(parse(WIDER), parse(BIDS)))
    serving = SimpleNamespace(service=service, settings=SETTINGS)
    Serving._tell_difference(serving, Console(file=out))
    assert out.getvalue() == (
        "the file differs; --apply changes what is new or changed:\n  changed   hot\n"
    )
