"""Every expression of the table means what it means to Spark, or is refused while planning.

What Spark said is in `answers.jsonl`; test_on_spark.py holds it to Spark itself. What is refused,
and why, is in `refused.txt`, which `pytest --update` writes anew.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.expressions.answers import Answer, answers, same
from tests.expressions.planning import Refused, answer, catalog
from tests.expressions.table import expressions, groups
from tidemill.expressions.names import NAMES

REFUSED = Path(__file__).parent / "refused.txt"
# The last digit of a sine depends on who computed it.
ABOUT = re.compile(
    r"\b(a?(sin|cos|tan)h?|atan2|cot|csc|sec|ln|log\w*|exp|pow|power|cbrt|expm1|hypot|degrees|radians)\("
)
# Written with parentheses, but no functions; and the names of types with arguments.
NO_FUNCTIONS = {"in", "decimal", "varchar", "char"}


@cache
def ours() -> dict[str, Answer | Refused]:
    known = catalog()
    return {text: answer(text, known) for text in expressions()}


def refusals() -> str:
    found = {text: given for text, given in ours().items() if isinstance(given, Refused)}
    return "".join(f"{text!r}: {given.reason}\n" for text, given in found.items())


@pytest.mark.parametrize("group", groups())
def test_spark_would_say_the_same(group: str) -> None:
    wrong = []
    for text in groups()[group]:
        given, said = ours()[text], answers()[text]
        if not isinstance(given, Refused) and not same(given, said, about=bool(ABOUT.search(text))):
            wrong.append(f"{text}\n  here:  {given}\n  Spark: {said}")
    assert not wrong, "\n".join(wrong)


def test_what_is_refused_is_known(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        REFUSED.write_text(refusals(), "utf-8")
    assert refusals() == REFUSED.read_text("utf-8")


def test_refusals_say_where_and_why() -> None:
    found = {text: given for text, given in ours().items() if isinstance(given, Refused)}
    assert [text for text, given in found.items() if len(given.reason) < 10] == []
    nowhere = [text for text, given in found.items() if given.line is None]
    assert all(text.startswith("INTERVAL") for text in nowhere), nowhere


def names_of(text: str) -> set[str]:
    bare = re.sub(r"'(?:[^'\\]|\\.|'')*'", "''", text)
    return {name.lower() for name in re.findall(r"\b([A-Za-z_]\w*)\(", bare)}


def test_every_function_that_may_be_called_is_in_the_table() -> None:
    agreed = [
        text
        for text, given in ours().items()
        if not isinstance(given, Refused) and not answers()[text].error
    ]
    proven = {name for text in agreed for name in names_of(text)} - NO_FUNCTIONS
    assert proven - {"char"} == NAMES - {"char", "decimal"}
