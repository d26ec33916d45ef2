"""Malformed requests and texts: they are refused, nothing breaks, and no secret is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Message

from tests.server.fuzz.asking import Answered, Asked, ask, living, sent
from tests.server.fuzz.campaign import BATCH, campaign, settings_of
from tests.server.fuzz.requests import OUT
from tests.server.fuzz.secrets import Secrets
from tests.server.served import Served, served

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:pyarrow")


@pytest.mark.parametrize("batch", range(10))
def test_malformed_requests(batch: int):
    tally = campaign(batch * BATCH, BATCH)
    assert not tally.wrong, "\n\n".join(tally.wrong)
    assert {200, 400, 404, 422} <= set(tally.statuses)


# Single requests, many of them found by the above


def answers(server: Served, *asked: Asked) -> list[Answered]:
    """What a server answers, one after the other."""

    async def asking() -> list[Answered]:
        async with living(server.app):
            return [await ask(server.app, each) for each in asked]

    return asyncio.run(asking())


def answer(asked: Asked) -> Answered:
    """What a server answers to the only request that it gets."""
    with served() as server:
        [found] = answers(server, asked)
    assert found.wrong(()) is None
    return found


def text(sql: str, route: str = "statements") -> Asked:
    return sent("POST", f"/api/{route}", {"sql": sql})


def test_a_query_without_columns():
    assert answer(text("SELECT --item FROM bid")).status == 400


@pytest.mark.parametrize("route", ["statements", "check", "plan", "run"])
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {' + '.join(['item'] * 5000)} AS a FROM bid",
        f"SELECT item FROM bid WHERE {' AND '.join(['item > 1'] * 3000)}",
        f"SELECT item FROM bid WHERE item IN ({', '.join(map(str, range(9000)))})",
        "SELECT a0.item FROM bid a0" + "".join(f", bid [ROWS 1] a{n}" for n in range(1, 60)),
        "SELECT item FROM bid" + " UNION ALL SELECT item FROM bid" * 400,
    ],
    ids=["sum", "conditions", "list", "join", "union"],
)
def test_a_statement_that_would_be_planned_for_ever(sql: str, route: str):
    """All others would wait for it."""
    found = answer(text(sql, route))
    assert b"nested too deeply" in found.body or found.status == 413


@pytest.mark.parametrize("kind", ["DECIMAL(99, 2)", "DECIMAL(9999999999999)", "ARRAY", "MAP<INT>"])
def test_a_type_that_there_cannot_be(kind: str):
    assert answer(text(f"CREATE STREAM t (a {kind}, at BIGINT) ORDERED BY at")).status == 400
    assert answer(text(f"SELECT CAST(item AS {kind}) AS a FROM bid", "plan")).status == 400


@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_more_rows_than_there_are_numbers(digits: int):
    limit = "9" * digits
    sql = f"SELECT item FROM bid ORDER BY price LIMIT {limit}"
    assert answer(text(sql, "plan")).status == 400


def test_a_body_for_a_page_that_wants_none():
    """Longer than allowed, and without a length: the page may be answered before that shows."""
    assert answer(Asked("GET", b"/", body=b"x" * (17 << 20))).status in (200, 413)


def test_a_body_that_is_too_long_and_does_not_say_so():
    rows = sent("POST", "/api/streams/bid/rows", [{"item": 1, "at": 5}])
    asked = replace(rows, headers=rows.headers[:2], body=b" " * (17 << 20) + rows.body)
    assert answer(asked).status == 413


def test_half_a_character():
    half = replace(text(""), body=b'{"sql": "SELECT \\ud800"}')
    assert answer(half).status == 422


def test_a_length_with_more_digits_than_python_reads():
    asked = text("SELECT 1").with_headers((b"content-length", b"9" * 5000))
    assert answer(asked).status == 413


def test_a_folder_and_a_query_that_is_no_text():
    assert answer(Asked("GET", b"/assets", b"a=\xff")).status == 404


def test_a_client_that_goes_in_the_middle_of_a_request():
    pushed = sent("POST", "/api/streams/bid/rows", [{"item": 1, "at": 99}])
    assert answer(replace(pushed, body=pushed.body[:9], cut=True)).status == 400


WISHES = (
    *("", "x", "{}", "[]", "null", "1", '{"subscribe": 1}', '{"subscribe": [1]}', "[" * 5000),
    *('{"subscribe": "queries"}', '{"subscribe": ["none"]}', '{"subscribe": ["results:"]}'),
    *('{"subscribe": ["results:none", "results:highest\\u0000"]}', '{"subscribe": {"a": 1}}'),
    *('{"subscribe": ["queries"], "every": "x"}', '{"subscribe": ["queries"], "every": null}'),
    *('{"subscribe": ["queries"], "every": 1e999}', '{"subscribe": ["queries"], "every": -5}'),
    *('{"subscribe": ["queries"], "every": 1e308}', '{"subscribe": ["queries"], "every": NaN}'),
    '{"subscribe": [' + ", ".join(['"queries"'] * 5000) + "]}",
    '{"subscribe": [' + ", ".join(f'"results:{n}"' for n in range(500)) + "]}",
)


async def heard(app: ASGIApp, wishes: Sequence[Message]) -> list[Message]:
    """What a socket says to somebody who sends this, and then a wish as it should be."""
    last: Message = {"type": "websocket.receive", "text": '{"subscribe": ["catalog"]}'}
    sending: list[Message] = [{"type": "websocket.connect"}, *wishes, last]
    told, done = list[Message](), asyncio.Event()

    async def receive() -> Message:
        if sending:
            return sending.pop(0)
        await done.wait()
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(message: Message) -> None:
        told.append(message)
        if '"topic":"catalog"' in message.get("text", "") or message["type"] == "websocket.close":
            done.set()

    scope = {**Asked("GET", b"/api/live").scope(), "type": "websocket", "subprotocols": []}
    async with asyncio.timeout(30):
        await app(scope, receive, send)
    return told


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish[:40])
def test_a_wish_that_no_socket_understands(wish: str):
    """The client is told, and can go on."""

    async def listening() -> list[Message]:
        with served() as server:
            async with living(server.app):
                return await heard(server.app, [{"type": "websocket.receive", "text": wish}])

    assert '"topic":"catalog"' in asyncio.run(listening())[-1]["text"]


def test_bytes_for_a_socket_that_wants_text():
    async def listening() -> list[Message]:
        with served() as server:
            async with living(server.app):
                return await heard(
                    server.app, [{"type": "websocket.receive", "bytes": b"\xff", "text": None}]
                )

    assert asyncio.run(listening())[0]["type"] == "websocket.accept"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Secrets:
    return Secrets(tmp_path_factory.mktemp("files")).make()


def test_what_is_allowed_can_be_read(secrets: Secrets):
    """Or the next test would prove nothing."""
    call = f"csv(path => '{secrets.allowed}/open.csv')"
    columns = "(item BIGINT, price DOUBLE, bidder STRING, at BIGINT)"
    with served(settings_of(secrets, with_token=False)) as server:
        made, read = answers(
            server,
            text(f"CREATE STREAM s {columns} SOURCE {call} ORDERED BY at"),
            text("SELECT * FROM s", "run"),
        )
    assert made.status == 200
    assert b'"ann"' in read.body


def test_no_disguise_of_a_file_lets_it_out(secrets: Secrets):
    asked: list[Asked] = []
    for number, path in enumerate(secrets.paths()):
        for format in ("csv", "JSON", "text"):
            asked += secrets.reading(f"{format}(path => '{path}')", f"s{number}{format}")
    before = sorted(each.name for each in secrets.folder.rglob("*"))
    with served(settings_of(secrets, with_token=False)) as server:
        for each, found in zip(asked, answers(server, *asked), strict=True):
            assert found.wrong(secrets.texts) is None, each
            assert b"leaked" not in found.body
    assert sorted(each.name for each in secrets.folder.rglob("*")) == before


def test_files_of_the_package_are_not_files_of_the_page():
    here = (Path(__file__).parents[2] / "src/tidemill/server/main.py").read_bytes()[:200]
    with served() as server:
        for found in answers(server, *(Asked("GET", path) for path in OUT)):
            assert found.wrong((here, b"root:")) is None
            assert found.status in (404, 405)
