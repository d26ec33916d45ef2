"""The answers that are written down are those of Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.expressions.answers import answers
from tests.expressions.asking import ask, write
from tests.expressions.table import expressions

pytestmark = pytest.mark.spark


def test_the_answers_are_those_of_spark(
    session: SparkSession, request: pytest.FixtureRequest
) -> None:
    known = answers()
    found = ask(session, expressions(), [text for text, given in known.items() if given.error])
    if request.config.getoption("--update"):
        write(found)
        return
    wrong = {
        text: (given, known.get(text)) for text, given in found.items() if given != known.get(text)
    }
    assert not wrong
    assert list(known) == list(found)
