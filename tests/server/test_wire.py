"""The shapes of the wire: every route has one, and clients need nothing of the engine for them."""

import subprocess
import sys
from typing import get_args

from fastapi.routing import APIRoute

from tidemill.server.app import SUBJECTS
from tidemill.wire.base import Request, WireModel

ROUTES = [each for module in SUBJECTS for each in module.routes.routes]


def _shapes(kind):
    return get_args(kind) or (kind,)


def test_routes_take_and_give_shapes_of_the_wire():
    assert len(ROUTES) > 20
    for route in ROUTES:
        assert isinstance(route, APIRoute)
        assert all(issubclass(each, WireModel | Request) for each in _shapes(route.response_model))
        if route.body_field is not None:
            taken = _shapes(route.body_field.field_info.annotation)
            assert any(issubclass(each, Request) for each in taken), route.path


def test_the_wire_needs_neither_the_engine_nor_a_server():
    """Whatever the package itself imports: the modules of the wire do not ask for more."""
    code = """
import sys, types, pathlib, importlib.util
root = pathlib.Path(importlib.util.find_spec("tidemill").origin).parent
package = types.ModuleType("tidemill"); package.__path__ = [str(root)]
sys.modules["tidemill"] = package
import tidemill.client
from tidemill.wire import base, catalog, compose, graph, plans, queries, statements, tables, values
found = {name.split(".")[1] for name in sys.modules if name.startswith("tidemill.")}
print(sorted(found), "fastapi" in sys.modules, "duckdb" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False False"), done.stdout
    for part in ("engine", "server", "runtime", "analyze", "graph"):
        assert f"'{part}'" not in done.stdout
