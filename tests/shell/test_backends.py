"""The same conversation with an engine in this process and with a server: the same answers."""

from collections.abc import Iterator

import pytest

from tests.serving import served
from tests.shell.conftest import BIDS, Said, said
from tidemill.client import Client
from tidemill.shell import Backend, EmbeddedBackend, ServerBackend

CONVERSATION = (
    "\\d",
    *(f"{statement};" for statement in BIDS.split(";")[:2]),
    '\\push bid {"item": "cup", "price": 3, "minute": 0}',
    "\\watch hot",
    "START QUERY hot;",
    '\\push bid [{"item": "lamp", "price": 30, "minute": 1}, '
    '{"item": "vase", "price": 12, "minute": 2}, {"item": "lamp", "price": 35, "minute": 4}]',
    "\\watch hot",
    "\\format csv\n\\watch hot\n\\format json\n\\watch hot\n\\format table",
    "\\watch SELECT item, price FROM bid WINDOW(RANGE 3)",
    "\\watch SELECT prise FROM bid",
    "\\watch SELECT item, COUNT(*) AS n FROM bid GROUP BY item",
    "\\watch bid",
    "\\watch nothing",
    "CREATE STREAM dear AS SELECT item, price FROM bid WHERE price > 20;",
    "CREATE RELATION category (item STRING, kind STRING) CHANGING;",
    "INSERT INTO category VALUES ('lamp', 'light'), ('vase', NULL);",
    "DELETE FROM category WHERE item = 'cup';",
    "SELECT * FROM category;",
    "SELECT COUNT(*) AS n FROM category;",
    "SELECT item FROM dear;",
    "SELECT\n  itm FROM category;",
    "SELEC 1;",
    "CREATE QUERY q AS SELECT COUNT(*) AS n FROM bid;",
    "\\d",
    "\\d bid",
    "\\d dear",
    "\\d category",
    "\\d hot",
    "\\explain SELECT c.kind FROM dear JOIN category AS c ON c.item = dear.item",
    *(f"\\explain {level} hot" for level in ("logical", "optimized", "verbose", "physical")),
    "\\explain stages SELECT COUNT(*) AS n FROM bid",
    "\\explain cost SELECT COUNT(*) AS n FROM bid",
    "\\explain SELECT prise FROM bid",
    "\\explain nothing",
    "ALTER QUERY hot AS SELECT item, COUNT(*) AS bids, MIN(price) AS best\n"
    "FROM bid WINDOW(RANGE 5) GROUP BY item;",
    "STOP QUERY hot;",
    "\\watch HOT",
    "\\d hot",
    "STOP QUERY hott;",
    '\\push bid {"item": "lamp"}',
    '\\push category {"item": "lamp"}',
    "DROP STREAM bid;",
    "DROP QUERY hot;",
    "\\d",
)


@pytest.fixture(params=["embedded", "server"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each of the two, with ticks on the clock."""
    if request.param == "embedded":
        backend: Backend = EmbeddedBackend(every="20 milliseconds")
        yield backend
        backend.close()
    else:
        with served() as url:
            backend = ServerBackend(Client(url))
            yield backend
            backend.close()


def converse(backend: Backend) -> list[tuple[str, str, str]]:
    """What was said to each statement and command."""
    say: Said = said(backend)
    found = []
    for text in CONVERSATION:
        say(text)
        found.append((text, say.out, say.notes))
    return found


def test_both_say_the_same() -> None:
    own = EmbeddedBackend(every="20 milliseconds")
    mine = converse(own)
    own.close()
    with served() as url:
        remote = ServerBackend(Client(url))
        theirs = converse(remote)
        remote.close()
    for one, other in zip(mine, theirs, strict=True):
        assert one == other
        assert "Traceback" not in one[2]


def test_a_failed_query_says_why(backend: Backend) -> None:
    say = said(backend)
    say(BIDS + "CREATE QUERY bad AS SELECT 1 / price AS x FROM bid; START QUERY bad;")
    for minute in (1, 9):
        say(f'\\push bid {{"item": "a", "price": 0, "minute": {minute}}}')
    say.clear()
    assert say("\\d"), say.notes
    assert "failed" in say.out
    assert "bad: division by zero" in say.notes
    assert not say("\\watch bad")
    assert "the query `bad` failed" in say.notes


def test_a_server_makes_its_own_ticks() -> None:
    with served() as url:
        backend = ServerBackend(Client(url))
        say = said(backend)
        assert not say("\\tick")
        assert "the server runs its own ticks" in say.notes
        assert url in backend.title
        backend.close()
