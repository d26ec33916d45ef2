"""Sessions of Spark: the user's own is left as it is, and one that was started here goes."""

from __future__ import annotations

import threading

import pytest
from pyspark.sql import SparkSession

import tidemill as tm
from tests.fabrics.answers import Results, query_of
from tests.fabrics.ground import Ground
from tests.fabrics.test_started import GROUPED, engine_of
from tidemill.errors import UnsupportedError
from tidemill.runtime.spark import importing

pytestmark = pytest.mark.slow


def test_a_session_of_the_user_is_left_alone(session: SparkSession) -> None:
    names = ("spark.sql.shuffle.partitions", "spark.sql.ansi.enabled", "spark.sql.adaptive.enabled")
    before = [session.conf.get(name) for name in names]
    with engine_of(Ground(session)) as engine:
        assert query_of(engine, GROUPED).start(Results()).await_termination()
    assert [session.conf.get(name) for name in names] == before
    assert session.range(3).count() == 3
    with tm.Engine() as other:
        assert other.spark.sparkContext is session.sparkContext
    thread = threading.Thread(target=_use_and_close)
    thread.start()
    thread.join()
    assert session.range(3).count() == 3, "also when another thread closes its engine"


def _use_and_close() -> None:
    with tm.Engine() as engine:
        engine.spark.range(1).count()


def test_settings_of_the_session_do_not_matter(session: SparkSession) -> None:
    """However Spark is set to read numbers, partition rows, or cut batches of Arrow."""
    strange = {
        "spark.sql.shuffle.partitions": "5",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
        "spark.sql.session.timeZone": "Asia/Kathmandu",
    }
    before = {name: session.conf.get(name) for name in strange}
    expected = query_of(engine_of(Ground(), partitions=1), GROUPED).collect()
    try:
        for name, value in strange.items():
            session.conf.set(name, value)
        found = query_of(engine_of(Ground(session)), GROUPED).collect()
    finally:
        for name, value in before.items():
            session.conf.set(name, value)
    assert found.equals(expected)


def test_workers_of_a_session_are_asked_at_once_for_the_package(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_checked", set())
    tm.Engine(spark=session)
    assert importing._checked == {session.sparkContext.applicationId}
    missing = "ModuleNotFoundError(\"No module named 'tidemill'\")"
    monkeypatch.setattr(importing, "_checked", set())
    probe = eval(f"lambda _: (_ for _ in ()).throw({missing})", {})
    monkeypatch.setattr(importing, "_PROBE", probe)
    with pytest.raises(UnsupportedError, match="cannot import tidemill") as caught:
        tm.Engine(spark=session)
    help = caught.value.help or ""
    assert 'os.environ["PYSPARK_PYTHON"] = ' in help
    assert "executorEnv.PYTHONPATH" in help


def test_what_workers_lack_is_told_in_a_word() -> None:
    assert importing._reason("No module named 'polars'") == "there is no module polars"
    assert "PYTHONPATH" not in importing._remedy("there is no module polars")
    assert importing._reason("[PYTHON_VERSION_MISMATCH] 3.9, 3.11") is not None
    assert importing._reason("disk full") is None
