"""A script is checked without anything happening."""

import pytest

from tidemill import Engine, TidemillError

STREAM = "CREATE STREAM bid (item BIGINT, price DOUBLE, at BIGINT) ORDERED BY at;\n"


@pytest.fixture
def engine() -> Engine:
    return Engine(runtime="inprocess")


def _messages(engine: Engine, text: str) -> list[str]:
    return [error.message for error in engine.check(text).errors]


def test_what_a_script_creates_is_known_in_the_rest_of_it(engine):
    script = STREAM + "CREATE QUERY q AS SELECT item FROM bid WINDOW(RANGE 4); START QUERY q"
    checked = engine.check(script)
    assert checked.errors == ()
    assert [type(each).__name__ for each in checked.statements] == [
        "CreateStream",
        "CreateQuery",
        "StartQuery",
    ]
    assert engine.listing() == ()


def test_every_statement_is_looked_at_and_errors_have_their_place(engine):
    script = STREAM + "SELECT itm FROM bid;\nSELECT prise FROM bid"
    found = engine.check(script).errors
    assert [(e.line, e.column, e.length) for e in found] == [(2, 8, 3), (3, 8, 5)]


def test_nothing_is_said_of_what_follows_a_creation_that_failed(engine):
    assert _messages(engine, "CREATE STREAM s AS SELECT a FROM t; SELECT b FROM s") == [
        "unknown stream or relation `t`"
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("START QUERY hott", "there is no query `hott`"),
        ("DROP QUERY other", "there is no query `other`"),
        ("DROP QUERY IF EXISTS other", None),
        ("CREATE QUERY hot AS SELECT item FROM bid", "`hot` already exists"),
        ("DROP STREAM bid", "cannot drop stream `bid`: `query hot` depends on it"),
        ("DROP QUERY hot; DROP STREAM bid", None),
        ("ALTER QUERY hot AS SELECT prise FROM bid", "unknown column `prise` in stream `bid`"),
        ("INSERT INTO nowhere VALUES (1)", "unknown stream or relation `nowhere`"),
        ("SELEC 1", "a statement cannot start with `SELEC`"),
    ],
)
def test_what_is_wrong_is_what_running_it_would_say(engine, statement, message):
    engine.sql(STREAM + "CREATE QUERY hot AS SELECT item FROM bid WINDOW(RANGE 4)")
    before = engine.listing()
    assert _messages(engine, statement) == ([] if message is None else [message])
    assert engine.listing() == before
    if message is not None:
        with pytest.raises(TidemillError) as raised:
            engine.sql(statement)
        assert raised.value.message == message


def test_rows_are_pushed_into_a_stream_without_a_source(engine):
    engine.sql(STREAM)
    graph = engine.run(every=None)
    engine.sql("CREATE QUERY n AS SELECT COUNT(*) AS n FROM bid WINDOW(RANGE 4); START QUERY n")
    engine.push("bid", [{"item": 1, "price": 2, "at": 3}, {"item": 1, "price": 2.5, "at": 9}])
    graph.tick()
    assert graph.query("n").results().to_pylist()[0] == {"n": 1, "valid_from": 3, "valid_to": 7}
