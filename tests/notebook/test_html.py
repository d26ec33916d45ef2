"""What notebooks show of engines, queries, results and runs."""

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.engine.kept import KeptStore
from tidemill.notebook.html import code, framed, heading, note, rows_of, texts

HOSTILE = '<script>alert("1")</script>&'
BIDS = [{"item": "lamp", "price": 30, "at": 1}, {"item": "vase", "price": 12, "at": 4}]
COUNTS = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"
VOID = {"br"}


class Checked(HTMLParser):
    """Reads HTML that is well formed: its tags and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open and self.open[-1] == "style" else data + " "


def seen(thing) -> str:
    """The text of something as a notebook shows it, which has to be harmless."""
    page = Checked(thing if isinstance(thing, str) else thing._repr_html_())
    assert not page.tags & {"script", "iframe", "img", "link", "a"}
    assert not [name for name in page.attributes if name.startswith("on")]
    return " ".join(page.text.split())


@pytest.fixture
def engine():
    with tm.Engine(runtime="inprocess", keep=KeptStore(rows=100)) as engine:
        engine.stream("bid", BIDS, time="at")
        yield engine


@pytest.mark.parametrize("piece", [note, code, heading, lambda text: texts([{text: text}])])
def test_texts_are_escaped(piece) -> None:
    assert HOSTILE in seen(framed(piece(HOSTILE)))


def test_names_and_values_are_escaped() -> None:
    table = pa.table({HOSTILE: [HOSTILE, None], "list": [[HOSTILE], []]})
    assert seen(framed(rows_of(table))).count("<script>") == 3
    assert HOSTILE in seen(framed(rows_of(table.slice(0, 0))))


def test_colours_are_those_of_the_notebook() -> None:
    colours = re.findall(r"(?:color|background): ([^;]+);", framed())
    assert set(colours) == {"inherit", "transparent"}


def test_long_values_are_cut() -> None:
    assert len(seen(rows_of(pa.table({"a": ["x" * 10_000]})))) < 300


def test_a_query_shows_its_plan_and_first_rows(engine) -> None:
    text = seen(engine.sql(COUNTS))
    assert "GROUP BY item" in text
    assert "Aggregate" in text
    assert "lamp 1 1 6" in text
    assert "2 rows" in text


def test_only_the_first_rows_are_shown(engine) -> None:
    engine.stream("many", {"at": list(range(300))}, time="at")
    assert "the first 10 of 300 rows" in seen(engine.sql("SELECT 1 AS one FROM many"))


def test_a_query_over_much_shows_rows_only_if_they_are_known(engine) -> None:
    engine.stream("many", {"at": list(range(5_000))}, time="at")
    query = engine.sql("SELECT COUNT(*) AS n FROM many WINDOW(RANGE 2)")
    assert "no rows yet" in seen(query)
    assert query.progress.ticks == 0
    query.collect()
    assert "the first 10 of 5,001 rows" in seen(query)


def test_a_query_over_pushed_rows_is_not_run(engine) -> None:
    engine.stream("tap", pa.schema({"a": pa.int64(), "at": pa.int64()}), time="at")
    engine.push("tap", [{"a": 1, "at": 1}])
    assert "no rows yet" in seen(engine.sql("SELECT a FROM tap"))


def test_a_query_over_a_relation_that_changes_is_not_run(engine) -> None:
    engine.relation("desk", [{"id": 1}], changing=True)
    query = engine.sql("SELECT id FROM desk")
    query.collect()
    engine.insert("desk", [{"id": 2}])  # what was collected is no longer true
    assert "no rows yet" in seen(query)


def test_no_spark_is_started_to_show_a_query() -> None:
    engine = tm.Engine()
    engine.stream("bid", BIDS, time="at")
    assert "no rows yet" in seen(engine.sql(COUNTS))
    assert "on Spark" in seen(engine)


@pytest.mark.spark
def test_on_a_spark_that_runs_rows_are_shown(session) -> None:
    engine = tm.Engine(spark=session)
    engine.stream("bid", BIDS, time="at")
    query = engine.sql(COUNTS)
    assert "lamp 1 1 6" in seen(query)
    assert "on Spark" in seen(engine)
    assert query.to_polars().height == query.to_pandas().shape[0] == query.head().num_rows == 2
    assert query.plot().svg.count("<path") == 2


def test_what_goes_wrong_is_shown(engine) -> None:
    query = engine.sql("SELECT 1 / (price - 30) AS broken FROM bid")
    assert "error:" in seen(query)


def test_passwords_are_not_shown(engine) -> None:
    text = "postgresql://ann:secret@host/shop"
    assert "secret" not in seen(engine.sql(f"SELECT item FROM bid WHERE item <> '{text}'"))


def test_reports(engine) -> None:
    assert "name kind bid stream" in seen(engine.sql("SHOW STREAMS"))
    assert "Scan bid" in seen(engine.sql(f"EXPLAIN {COUNTS}"))


def test_an_engine_shows_its_catalog(engine) -> None:
    assert "nothing is declared" in seen(tm.Engine(runtime="inprocess"))
    engine.relation("room", [{"room": HOSTILE}])
    engine.sql(f"CREATE VIEW counts AS {COUNTS}; CREATE QUERY hot AS {COUNTS}")
    text = seen(engine)
    assert "bid stream item STRING, price BIGINT, at BIGINT" in text
    assert "room relation room STRING" in text
    assert "counts view item STRING, n BIGINT bid" in text
    assert "hot stopped bid" in text


def test_what_runs_shows_rows_watermarks_and_late_rows(engine) -> None:
    engine.sql("CREATE STREAM tap (item STRING, at BIGINT) ORDERED BY at")
    graph = engine.run(every=None)
    assert "no queries yet" in seen(graph)
    run = engine.sql("SELECT item FROM tap WINDOW(RANGE 5)").start("memory", name=HOSTILE)
    for at in (1, 9, 4):
        engine.push("tap", [{"item": "lamp", "at": at}])
        graph.tick()
    for shown in (graph, run):
        text = seen(shown)
        assert "running, 3 ticks" in text
        assert HOSTILE in text
        assert "source rows late watermark tap 3 1 9" in text
    graph.stop()
    assert "stopped, 3 ticks" in seen(graph)


def test_a_started_query_of_its_own(engine) -> None:
    query = engine.sql(COUNTS)
    run = query.start("memory")
    run.await_termination()
    assert "q1 stopped" in seen(run)
    runs = engine.start(engine.sql(COUNTS).into("memory"))
    runs.await_termination()
    assert "Graph stopped" in seen(runs)


def test_kept_answers(engine) -> None:
    engine.sql("CREATE STREAM tap (item STRING, at BIGINT) ORDERED BY at")
    graph = engine.run(every=None)
    engine.sql("CREATE QUERY n AS SELECT COUNT(*) AS n FROM tap WINDOW(RANGE 9); START QUERY n")
    engine.push("tap", [{"item": "a", "at": 3}, {"item": "a", "at": 6}])
    graph.tick()
    assert "complete until 6; the newest snapshot: n 1 1 row" in seen(engine.kept("n"))
