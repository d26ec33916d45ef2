"""The description of the API: whole, and true."""

import pytest

from tests.server.conftest import serving


@pytest.fixture(scope="module")
def document():
    found = serving()
    yield next(found).get("openapi.json")
    next(found, None)


def _operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_route_says_what_it_does(document):
    names = dict(_operations(document))
    assert {"POST /api/statements", "GET /api/graph", "GET /api/queries/{name}/changes"} <= set(
        names
    )
    for name, operation in names.items():
        assert operation["summary"], name
        assert operation["description"], name


def test_every_route_declares_its_errors_and_its_answer(document):
    for name, operation in _operations(document):
        answers = operation["responses"]
        assert {"400", "401", "403", "413", "422", "429", "503"} <= set(answers), name
        failure = answers["422"]["content"]["application/json"]["schema"]
        assert failure == {"$ref": "#/components/schemas/Failure"}, name
        good = answers.get("200", answers.get("201"))
        assert good["content"]["application/json"]["schema"], name
        if "{name}" in name or "{node}" in name:
            assert "404" in answers, name


def test_nothing_is_fetched_from_elsewhere():
    for server in serving():
        for path in ("docs", "redoc"):
            server.get(path, 404)
