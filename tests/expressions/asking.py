"""Ask Spark itself what expressions are: `python -m tests.expressions.asking` writes it down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.expressions.answers import FILE, Answer, answers, failed, shown
from tests.expressions.rows import ROWS
from tests.expressions.table import expressions

_BATCH = 150
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Timestamps have no zone, also those that functions and casts make.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # Compiling takes longer than computing a few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def ask(
    session: SparkSession, texts: Sequence[str], doubtful: Iterable[str] = ()
) -> dict[str, Answer]:
    """Spark's answers; those of which failure is expected are asked one by one."""
    session = session.newSession()
    for key, value in _SETTINGS.items():
        session.conf.set(key, value)
    session.createDataFrame(ROWS).createOrReplaceTempView("t")
    alone = set(doubtful)
    together = [text for text in texts if text not in alone]
    found: dict[str, Answer] = {}
    for start in range(0, len(together), _BATCH):
        found.update(_batch(session, together[start : start + _BATCH]))
    for text in texts:
        if text in alone:
            found.update(_batch(session, [text]))
    return {text: found[text] for text in texts}


def _batch(session: SparkSession, texts: Sequence[str]) -> dict[str, Answer]:
    """All at once; if one of them fails, each half again."""
    items = ", ".join(f"{text} AS `{k}`" for k, text in enumerate(texts))
    try:
        rows = session.sql(f"SELECT {items} FROM t")
        if len(texts) == 1:
            rows.collect()  # it fails sooner than Arrow does
        table = rows.toArrow()
    except (PySparkException, ValueError) as error:  # Arrow takes no map of nothing
        if len(texts) == 1:
            return {texts[0]: failed(_condition(error))}
        middle = len(texts) // 2
        return _batch(session, texts[:middle]) | _batch(session, texts[middle:])
    return {text: shown(column) for text, column in zip(texts, table.columns, strict=True)}


def _condition(error: Exception) -> str:
    named = error.getCondition() if isinstance(error, PySparkException) else None
    return named or type(error).__name__


def main() -> None:
    """Write Spark's answers to every expression of the table."""
    from tidemill.runtime.spark.session import _local_session

    known = answers() if FILE.exists() else {}
    doubtful = [text for text, answer in known.items() if answer.error]
    session = _local_session("2")
    write(ask(session, expressions(), doubtful))
    session.stop()


def write(found: dict[str, Answer]) -> None:
    with FILE.open("w", encoding="utf-8") as file:
        for text, answer in found.items():
            file.write(json.dumps({"sql": text, **answer.fields()}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
