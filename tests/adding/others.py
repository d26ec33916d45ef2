"""A rule, a sink and a route that Tidemill does not have, added by the steps of CONTRIBUTING.md."""

from __future__ import annotations

from tests.adding.tree import Tree

RULE = '''"""What two equal sides have in common."""

from __future__ import annotations

from tidemill.algebra.plan import Plan
from tidemill.algebra.sets import Intersection


def merge_equal_sides(plan: Plan) -> Plan:
    """Rewrite A \u2229 A as A."""
    match plan:
        case Intersection(left, right) if left == right:
            return left
    return plan
'''

SINK = '''"""Results as a number: how many rows there were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from tidemill.connectors.sinks.forms import Shape


@dataclass(frozen=True)
class CountSink:
    """Counts rows."""

    rows: ClassVar[int] = 0

    shape: Shape

    @property
    def form(self) -> str:
        return self.shape.form

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        CountSink.rows += rows.height
'''

SHAPE = """

class Today(WireModel):
    '''What day it is where the server is.'''

    day: str
"""

ROUTE = """

@routes.answer("GET", "/today", "The day")
def today(service: Serving) -> Today:
    '''The day, by the clock of the server.'''
    return Today(day=time.strftime("%Y-%m-%d"))
"""

METHOD = """    def today(self) -> Today:
        '''The day, by the clock of the server.'''
        return self._http.ask(Today, "GET", "today")

    # Statements
"""


def add_rule(tree: Tree) -> None:
    """A module, and its place in the order of rules."""
    tree.append("optimize/rules/merge_equal_sides.py", RULE)
    known = "from tidemill.optimize.rules.merge_filters import merge_filters\n"
    new = "from tidemill.optimize.rules.merge_equal_sides import merge_equal_sides\n"
    tree.edit("optimize/driver.py", known, new + known)
    first = "    conventional(remove_empty_parts),\n"
    tree.edit("optimize/driver.py", first, first + "    conventional(merge_equal_sides),\n")


def add_sink(tree: Tree) -> None:
    """A module, its name, and who makes it."""
    tree.append("connectors/sinks/count.py", SINK)
    tree.edit("connectors/sinks/writable.py", '"console", ', '"console", "count", ')
    known = "from tidemill.connectors.sinks.forms import FormShape\n"
    new = "from tidemill.connectors.sinks.count import CountSink\n"
    tree.edit("connectors/sinks/making.py", known, new + known)
    case = '        case "noop":\n'
    new = '        case "count":\n            return CountSink(shape)\n'
    tree.edit("connectors/sinks/making.py", case, new + case)


def add_route(tree: Tree) -> None:
    """The shape of its answer, the route, and the method of the client."""
    tree.append("wire/statements.py", SHAPE)
    known = "from tidemill.wire.statements import ServerInfo\n"
    tree.edit("server/routes/info.py", known, known.replace("ServerInfo", "ServerInfo, Today"))
    tree.append("server/routes/info.py", ROUTE)
    tree.edit("client/client.py", "    # Statements\n", METHOD)
    tree.edit(
        "client/client.py", "\n\nclass ", "\nfrom tidemill.wire.statements import Today\n\n\nclass "
    )
