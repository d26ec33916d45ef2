"""The queries of the benchmark: on Spark they answer what they answer in process."""

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from tidemill import Engine, TidemillError
from tidemill.nexmark import generate
from tidemill.nexmark.bench import structured, tidemill_spark
from tidemill.nexmark.bench.answers import agree
from tidemill.nexmark.bench.measure import Setting
from tidemill.nexmark.queries import QUERIES, choose

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def setting(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("nexmark")
    generate(session, folder, 3000, files=2, seed=3)
    return Setting(folder, 2)


@pytest.mark.parametrize("name", QUERIES)
def test_spark_answers_as_in_process(session: SparkSession, setting: Setting, name: str) -> None:
    script = QUERIES[name].script(setting.data)
    answers = []
    for engine in (Engine(runtime="inprocess"), Engine(spark=session, partitions=2)):
        query = engine.sql(script)
        assert query is not None
        answers.append(pl.DataFrame(query.collect(coalesce=True)))
    first, second = (answer.sort(answer.columns) for answer in answers)
    assert first.height > 0
    assert first.equals(second)


@pytest.mark.parametrize("name", structured.QUESTIONS)
def test_sparks_own_api_agrees(session: SparkSession, setting: Setting, name: str) -> None:
    ours = tidemill_spark.answer(session, QUERIES[name], setting)
    assert agree(name, ours, structured.answer(session, name, setting))


def test_every_query_says_what_it_answers(tmp_path: Path) -> None:
    for query in QUERIES.values():
        text = query.script(tmp_path)
        assert text.startswith("-- ")
        assert f"'{tmp_path}/" in text


def test_unknown_queries_are_named() -> None:
    assert [query.name for query in choose("q1, counts")] == ["q1", "counts"]
    with pytest.raises(TidemillError, match="no query `q99`"):
        choose("q99")
