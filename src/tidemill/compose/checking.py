"""Is a composed plan right, node by node and as a whole?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemill.algebra import Plan, Project, Schema
from tidemill.algebra.types import name_of
from tidemill.analyze.arrivals import look_up_on_arrival
from tidemill.compose.advice import advice_on_growth
from tidemill.compose.assembling import Assembled, assemble
from tidemill.compose.bench import PlanPiece
from tidemill.compose.logical.rows import all_columns
from tidemill.compose.meaning import meaning_of
from tidemill.compose.model import Composed, PlanProblem, Wrong, wrong
from tidemill.compose.palette import operators_by_kind
from tidemill.compose.physical.making import is_raw
from tidemill.compose.quiet import quietly
from tidemill.compose.sql import CannotSay, to_sql
from tidemill.engine import Query
from tidemill.engine.apart import Desk
from tidemill.errors import TidemillError
from tidemill.physical.operator import Exec
from tidemill.physical.operators.project import ProjectExec
from tidemill.timeline import VALID_FROM, VALID_TO, TimeDomain

_DEEPEST = 200  # operators above each other
_BY_HAND = "-- composed of physical operators, which stay as they are"
_DOMAINS = {TimeDomain.TICKS: "ticks", TimeDomain.MICROSECONDS: "microseconds", None: None}


@dataclass
class CheckedPlan:
    """What was found out about a composed plan; with a `query` if all of it is right."""

    composed: Composed
    assembled: Assembled
    output: str | None = None
    plan: Plan | None = None
    meaning: Plan | None = None  # of a physical plan
    domain: TimeDomain | None = None
    sql: str | None = None
    sql_reason: str | None = None
    query: Query | None = None
    errors: list[PlanProblem] = field(default_factory=list)
    warnings: list[PlanProblem] = field(default_factory=list)

    @property
    def is_named(self) -> bool:
        """Whether the last node is one that names columns."""
        kinds = {node.id: node.kind for node in self.composed.nodes}
        return kinds.get(self.output or "") == "project"

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing or wrong."""
        return not self.errors and self.plan is not None

    def to_json(self) -> dict[str, Any]:
        """Everything but the plans, for a page; see `tidemill.compose`."""
        return {
            "level": self.composed.level,
            "complete": self.is_complete,
            "output": self.output,
            "columns": None if self.plan is None else columns_json(self.plan.schema),
            "domain": _DOMAINS[self.domain],
            "nodes": [self._node(node.id) for node in self.composed.nodes],
            "errors": [problem.to_json() for problem in self.errors],
            "warnings": [problem.to_json() for problem in self.warnings],
            "sql": self.sql,
            "sql_reason": self.sql_reason,
        }

    def _node(self, id: str) -> dict[str, Any]:
        piece = self.assembled.pieces.get(id)
        return {
            "id": id,
            "state": "right" if piece else self._state(id),
            "columns": None if piece is None else columns_json(piece.plan.schema),
            "domain": None if piece is None else _DOMAINS[piece.domain],
            "windowed": piece is not None and piece.is_windowed,
        }

    def _state(self, id: str) -> str:
        return "wrong" if self.assembled.has_error(id) else "waiting"


def columns_json(schema: Schema) -> list[dict[str, str]]:
    """The columns that a user can name."""
    return [{"name": f.name, "type": name_of(f.type)} for f in schema if "#" not in f.name]


def check(engine: Desk, composed: Composed | Mapping[str, Any]) -> CheckedPlan:
    """Check a composed plan, complete or not; only what is no plan at all is an error.

    >>> from tidemill import Engine
    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", [{"item": 1, "price": 5, "at": 3}], time="at")
    >>> scan = {"id": "a", "kind": "scan", "settings": {"source": "bid"}}
    >>> high = {"id": "b", "kind": "filter", "settings": {"condition": "pric > 4"}, "inputs": ["a"]}
    >>> for error in check(engine, {"level": "logical", "nodes": [scan, high]}).errors:
    ...     print(error.node, error.setting, error.message, "--", error.help)
    b condition unknown column `pric` -- did you mean `price`? columns: bid.item, bid.price
    >>> high["settings"]["condition"] = "price > 4"
    >>> print(check(engine, {"level": "logical", "nodes": [scan, high]}).sql)
    SELECT
      item,
      price
    FROM bid
    WHERE
      price > 4
    """
    if not isinstance(composed, Composed):
        composed = Composed.from_json(composed)
    assembled = assemble(composed, operators_by_kind(composed.level), engine.catalog)
    checked = CheckedPlan(composed, assembled)
    checked.errors += assembled.errors
    checked.warnings += assembled.warnings
    checked.output = _output(checked)
    if checked.output in assembled.pieces and not checked.errors:
        piece = assembled.pieces[checked.output]
        try:
            if _levels(piece.plan) > _DEEPEST:
                raise RecursionError
            _finish(engine, checked, piece)
        except RecursionError:
            help = "put less one above the other"
            checked.errors.append(
                PlanProblem("the plan is nested too deeply", help, checked.output)
            )
    return checked


def _levels(plan: Plan) -> int:
    """How many operators stand above each other."""
    found: int = plan.fold(lambda node, below: 1 + max(below, default=0))
    return found


def _output(checked: CheckedPlan) -> str | None:
    """The last node; errors tell what is left over."""
    composed = checked.composed
    nodes = {node.id: node for node in composed.nodes}
    if not nodes:
        checked.errors.append(PlanProblem("there is no operator yet", "begin with a Scan"))
        return None
    read = {id for node in composed.nodes for id in node.inputs}
    ends = [id for id in nodes if id not in read]
    output = composed.output
    if output is not None and output not in nodes:
        help = "choose one of the nodes"
        checked.errors.append(PlanProblem(f"the output `{output}` does not exist", help))
        return None
    if output is None:
        if len(ends) != 1:
            shown = ", ".join(ends)
            message = f"there are several ends: {shown}" if ends else "there is no end"
            checked.errors.append(PlanProblem(message, "connect them, or choose the output"))
            return None
        output = ends[0]
    checked.errors += _left_over(composed, output)
    return output


def _left_over(composed: Composed, output: str) -> list[PlanProblem]:
    nodes = {node.id: node for node in composed.nodes}
    used, waiting = set[str](), [output]
    while waiting:
        id = waiting.pop()
        if id not in used and id in nodes:
            used.add(id)
            waiting.extend(nodes[id].inputs)
    help = "connect it, or remove it"
    message = "nothing leads from here to the output"
    return [PlanProblem(message, help, id) for id in nodes if id not in used]


def _finish(engine: Desk, checked: CheckedPlan, piece: PlanPiece) -> None:
    """What the whole plan means."""
    try:
        plan = result_of(piece.plan, checked.is_named)
        _check_names(plan)
        if checked.composed.level == "logical":
            look_up_on_arrival(plan, {})
    except (TidemillError, Wrong) as error:
        found = error if isinstance(error, Wrong) else Wrong(error)
        checked.errors.append(found.problem(checked.output or ""))
        return
    checked.plan, checked.domain = plan, piece.domain
    if isinstance(plan, Exec):
        _finish_physical(engine, checked, plan)
    else:
        _finish_logical(engine, checked, plan)


def _finish_logical(engine: Desk, checked: CheckedPlan, plan: Plan) -> None:
    checked.warnings += advice_on_growth(plan, checked.assembled.nodes_of)
    checked.query = _say(engine, checked, plan)


def _finish_physical(engine: Desk, checked: CheckedPlan, plan: Exec) -> None:
    try:
        checked.meaning = meaning_of(plan, engine.catalog)
        _say(engine, checked, checked.meaning)
    except CannotSay as error:
        checked.sql_reason = f"{error.message}: {error.help}"
    text = f"{_BY_HAND}\n{checked.sql or ''}".rstrip()
    checked.query = engine.compose(plan, checked.meaning or plan, checked.domain, text)


def _say(engine: Desk, checked: CheckedPlan, plan: Plan) -> Query | None:
    """Find the SQL of a plan, and the query that it is."""
    try:
        sql = to_sql(plan, engine.catalog, checked.domain)
        query = quietly(engine, sql)
        checked.sql = sql
        return query
    except (TidemillError, ValueError) as error:
        # The language has limits that plans do not have, and a few are only seen by planning.
        help = error.help if isinstance(error, TidemillError) else None
        message = error.message if isinstance(error, TidemillError) else str(error)
        checked.sql_reason = f"{message}: {help}" if help else message
        return None


def result_of(plan: Plan, is_named: bool) -> Plan:
    """The plan with names for its result: its own, without aliases unless a user gave them."""
    if is_raw(plan):
        message = "the result has changes of a relation, not rows that hold for a while"
        raise wrong(message, "put Versions at the end")
    if is_named or not any("." in n or "#" in n for n in plan.schema.names):
        return plan
    items = tuple(all_columns(plan))
    return ProjectExec(plan, items) if isinstance(plan, Exec) else Project(plan, items)


def _check_names(plan: Plan) -> None:
    for name in plan.schema.names:
        if name.casefold() in (VALID_FROM, VALID_TO):
            message = f"`{name}` is a reserved name: every result has it for its validity"
            raise TidemillError(message, help="give the column another name with AS")
