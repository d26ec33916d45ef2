"""ORDER BY is kept where people look: at a prompt, on the command line, over HTTP, in a sink."""

from __future__ import annotations

import io

from typer.testing import CliRunner

import tidemill as tm
from tests.server.conftest import serving
from tidemill.cli import app
from tidemill.shell import EmbeddedBackend, Printer, Session
from tidemill.terminal.tables import Format

STREAM = "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at"
SELECT = "SELECT item, price FROM bid WINDOW(RANGE 10) ORDER BY price DESC"
ROWS = [
    {"item": item, "price": p, "at": at}
    for at, (item, p) in enumerate(zip("abcd", [3, 9, 1, 5], strict=True), 1)
]
LATER = {"item": "e", "price": 0, "at": 5}
IN_ORDER = [("b", 9), ("d", 5), ("a", 3), ("c", 1)]


def test_at_a_prompt():
    out, notes = io.StringIO(), io.StringIO()
    backend = EmbeddedBackend()
    say = Session(backend, Printer(out, notes, Format.CSV)).run
    assert say(f"{STREAM}; CREATE QUERY q AS {SELECT}; START QUERY q;")
    backend.push("bid", [*ROWS, LATER])
    assert say("\\watch q")
    backend.close()
    assert out.getvalue().split() == ["item,price", *(f"{i},{p}" for i, p in IN_ORDER)]


def test_over_http_and_on_the_page():
    for server in serving(script=f"{STREAM}; CREATE QUERY q AS {SELECT}; START QUERY q"):
        server.post("streams/bid/rows", [*ROWS, LATER], wait="true")
        answer = server.get("queries/q/snapshot", at=4)
        assert list(map(tuple, answer["rows"])) == IN_ORDER


def test_on_the_command_line(tmp_path):
    (tmp_path / "bid.csv").write_text(
        "item,price,at\n" + "\n".join(f"{r['item']},{r['price']},{r['at']}" for r in ROWS)
    )
    source = STREAM.replace("ORDERED", f"SOURCE csv(path => '{tmp_path}/bid.csv') ORDERED")
    run = ["run", "-c", f"{source}; {SELECT}", "--runtime", "inprocess", "-f", "csv"]
    result = CliRunner().invoke(app, [*run, "--snapshot", "4"])
    assert result.stdout.split() == ["item,price", *(f"{i},{p}" for i, p in IN_ORDER)]


def test_in_a_sink():
    engine = tm.Engine(runtime="inprocess", partitions=3)
    engine.stream("bid", ROWS, time="at")
    running = engine.sql(SELECT).start("memory", form="snapshot", available_now=True)
    running.await_termination()
    assert [(row["item"], row["price"]) for row in running.results().to_pylist()] == IN_ORDER
