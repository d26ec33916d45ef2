"""The API does what its OpenAPI description says, whatever of it is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.served import HOST, served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described() -> Iterator[BaseSchema]:
    """The description of a server in this process, which is asked without a network."""
    with served() as server:
        schema = schemathesis.openapi.from_dict(server.app.openapi())
        schema.app = server.app
        schema.config.update(base_url=f"http://{HOST}")
        yield schema


NAMES = st.sampled_from(["highest", "pages", "count_of", "bid", "click", "blocked", "dear"])
TEXTS = st.sampled_from(
    [
        "SELECT item FROM bid [RANGE 3]",
        "SELECT MAX(price) AS most, COUNT(*) AS n FROM bid [RANGE 10]",
        "SELECT page, cost FROM click",
        "CREATE QUERY more AS SELECT bidder FROM bid; START QUERY more",
        "DROP QUERY more",
        "SELECT prise FROM bid",
        "SELECT 1 +",
    ]
)


def ask(case: Case, name: str, sql: str, known: bool) -> None:
    """Ask for something, of what is there if `known`: who guesses names gets nowhere."""
    if known and "name" in case.path_parameters:
        case.path_parameters["name"] = name
    if known and isinstance(case.body, dict) and "sql" in case.body:
        case.body["sql"] = sql
    case.call_and_validate(checks=CHECKS)


def check(operation: APIOperation, mode: GenerationMode, examples: int) -> None:
    """Ask for an operation in many ways."""
    unhurried = settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    known = st.just(True) if mode is GenerationMode.POSITIVE else st.booleans()
    cases = operation.as_strategy(generation_mode=mode)
    unhurried(given(case=cases, name=NAMES, sql=TEXTS, known=known)(ask))()


def check_all(described: BaseSchema, examples: int) -> None:
    """Ask for everything; all that is wrong is told at once."""
    wrong: list[Exception] = []
    for found in described.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                check(operation, mode, examples)
            except Unsatisfiable:
                continue  # nothing can be wrong with a request that says nothing
            except Exception as error:
                error.add_note(f"{operation.label}, {mode.value} examples")
                wrong.append(error)
    if wrong:
        raise ExceptionGroup("routes do not keep to their description", wrong)


def test_routes_keep_to_their_description(described: BaseSchema):
    check_all(described, 4)


@pytest.mark.slow
def test_routes_keep_to_their_description_for_long(described: BaseSchema):
    check_all(described, 500)
