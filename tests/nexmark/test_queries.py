"""The queries of the benchmark: on Spark they answer what they answer in process."""

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from benchmarks.auction import flink, flink_job, structured, tidemill_spark
from benchmarks.auction.answers import agree
from benchmarks.auction.worker import Request, Worker
from tidemill import Engine, TidemillError
from tidemill.nexmark import generate
from tidemill.nexmark.queries import QUERIES

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def house(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nexmark")
    generate(session, folder, 3000, files=2, seed=3)
    return folder


@pytest.mark.parametrize("name", QUERIES)
def test_spark_answers_as_in_process(session: SparkSession, house: Path, name: str) -> None:
    script = QUERIES[name].script(house)
    answers = []
    for engine in (Engine(runtime="inprocess"), Engine(spark=session, partitions=2)):
        query = engine.sql(script)
        assert query is not None
        answers.append(pl.DataFrame(query.collect(coalesce=True)))
    first, second = (answer.sort(answer.columns) for answer in answers)
    assert first.height > 0
    assert first.equals(second)


@pytest.mark.parametrize("name", structured.QUESTIONS)
def test_sparks_own_api_agrees(session: SparkSession, house: Path, name: str) -> None:
    ours = tidemill_spark.answer(session, Request("answer", name, str(house), 2))
    asked = Request("answer", f"{name}@{structured.NAME}", str(house), 2)
    theirs = structured.answer(session, asked)
    if theirs.is_empty():
        # Spark waits for a watermark two days later, and the data end before.
        assert name == "q5"
    else:
        assert agree(asked.query, ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_flink_agrees(session: SparkSession, house: Path, tmp_path: Path, name: str) -> None:
    try:
        python = flink.interpreter()
    except TidemillError:
        pytest.skip("Flink is not installed: make bench-peers")
    ours = tidemill_spark.answer(session, Request("answer", name, str(house), 2))
    worker = Worker(flink_job.__file__, 2, python)
    try:
        for form in flink.forms(name):
            folder = tmp_path / form.name
            data = str(flink.to_csv(house, 1))
            worker.ask(Request("answer", form.name, data, 1, file=str(folder)))
            assert agree(form.name, ours, flink.read_answer(folder)), form.name
    finally:
        worker.close()


def test_every_query_says_what_it_answers(tmp_path: Path) -> None:
    for query in QUERIES.values():
        text = query.script(tmp_path)
        assert text.startswith("-- ")
        assert f"'{tmp_path}/" in text
