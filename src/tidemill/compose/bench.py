"""Where a node is built: its inputs, its settings, and the language's own checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Plan, Scalar, Scan, Schema
from tidemill.analyze.context import Context
from tidemill.analyze.functions import find_aggregate, name_of_call
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.typecheck import check_boolean
from tidemill.catalog import Catalog, SourceInfo
from tidemill.compose import texts
from tidemill.compose.model import Node, Value, Wrong, about, wrong
from tidemill.compose.names import PlanScope
from tidemill.compose.operators import Card, Setting
from tidemill.errors import PlanError, TidemillError
from tidemill.sql import error_at
from tidemill.timeline import TimeDomain


def is_missing(value: Value) -> bool:
    """Whether a setting says nothing."""
    if isinstance(value, list | tuple):
        return not any(isinstance(each, str) and each.strip() for each in value)
    return value is None or (isinstance(value, str) and not value.strip())


def missing(setting: Setting) -> Wrong:
    """The error of a setting that must say something."""
    return wrong(f"{setting.title} is missing", f"for example {setting.example}", setting.name)


@dataclass(frozen=True)
class PlanPiece:
    """A part of a plan that is right: what it gives, and the time that its rows have.

    Its `size` is the number of operators, those that are shared counted each time.
    """

    plan: Plan
    domain: TimeDomain | None = None
    is_windowed: bool = False
    size: int = 1


@dataclass
class NamingContext(Context):
    """A context whose new names differ from those that inputs have.

    The next column that is named for its own sake gets the name that is wished for.
    """

    taken: set[str] = field(default_factory=set)
    wish: str | None = None

    def fresh(self, prefix: str) -> str:
        """A column name that nothing else in the plan has."""
        if self.wish is not None and prefix != "arg":
            return self.wish
        name = super().fresh(prefix)
        while name in self.taken:
            name = super().fresh(prefix)
        return name


@dataclass
class Bench:
    """One node in the making."""

    catalog: Catalog
    operator: Card
    node: Node
    inputs: tuple[PlanPiece, ...]
    context: NamingContext

    @property
    def plan(self) -> Plan:
        """The first input, or the only one."""
        return self.inputs[0].plan

    # Settings

    def value(self, name: str) -> Value:
        """A setting, or its default."""
        given = self.node.settings.get(name)
        return self.operator.setting(name).default if is_missing(given) else given

    def text(self, name: str) -> str:
        """A setting as a text; empty if it was not given."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            raise wrong(f"{self.operator.setting(name).title} takes a text", "write one", name)
        return "" if value is None else str(value).strip()

    def integer(self, name: str, least: int = 0) -> int | None:
        """A whole number."""
        text = self.text(name)
        if not text:
            return None
        setting = self.operator.setting(name)
        if not text.isdecimal() or len(text) > 18 or int(text) < least:
            message = f"{setting.title} takes a whole number, at least {least}"
            raise wrong(message, f"for example {setting.example}", name)
        return int(text)

    def number(self, name: str) -> float | None:
        """A number."""
        text = self.text(name)
        try:
            return float(text) if text else None
        except ValueError:
            setting = self.operator.setting(name)
            message = f"{setting.title} takes a number"
            raise wrong(message, f"for example {setting.example}", name) from None

    def choice(self, name: str) -> str:
        """One of the choices of a setting."""
        text, setting = self.text(name), self.operator.setting(name)
        if text not in setting.choices:
            help = f"choices: {', '.join(setting.choices)}"
            raise wrong(f"{setting.title} cannot be `{text}`", help, name)
        return text

    def lines(self, name: str) -> list[str]:
        """A setting as a list of texts."""
        value = self.value(name)
        if value is None:
            return []
        lines = [value] if isinstance(value, str) else value
        if not isinstance(lines, list | tuple) or not all(isinstance(e, str) for e in lines):
            raise wrong(f"{self.operator.setting(name).title} takes texts", "write a list", name)
        return [line for line in lines if line.strip()]

    # Expressions

    def stage(self, plan: Plan, *others: Plan) -> PlanStage:
        """The names of one input, or of several that have no column in common."""
        outer = Schema(())
        for number, other in enumerate(others, 1):
            if common := {*plan.schema.names, *outer.names} & set(other.schema.names):
                name = texts.column_text(min(common))
                message = f"another input has a column `{name}`, too"
                raise wrong(message, "give one of the sources below an alias", input=number)
            outer = outer + other.schema
        scope = PlanScope([], schema=plan.schema + outer, times=self._times(plan, *others))
        return PlanStage(self.context, plan, scope, outer)

    def _times(self, *plans: Plan) -> Mapping[str, str]:
        nodes = [node for plan in plans for node in plan.walk()]
        scans = {n for node in nodes if isinstance(n := getattr(node, "scan", node), Scan)}
        infos = ((scan, self.catalog.find(scan.source)) for scan in scans)
        return {
            info.time_column.casefold(): scan.alias
            for scan, info in infos
            if isinstance(info, SourceInfo) and info.time_column
        }

    def condition(self, name: str, stage: PlanStage) -> Scalar | None:
        """A setting as a condition over the columns of a stage."""
        text = self.text(name)
        if not text:
            return None
        with about(name):
            node = texts.expression(text)
            with placed_in(text):
                scalar = stage.scalar(self.bound(node, stage))
                check_boolean(node, scalar.type, self.operator.title)
                return scalar

    def expressions(self, name: str) -> Iterator[tuple[str, exp.Expr]]:
        """The expressions of a setting, each with the text that it stands in."""
        for line in self.lines(name):
            with about(name):
                found = texts.expressions(line)
            yield from ((line, node) for node in found)

    def bound(self, node: exp.Expr, stage: PlanStage) -> exp.Expr:
        """An expression over plan columns, without aggregates."""
        if (call := find_aggregate(node, self.catalog)) is not None:
            message = f"`{name_of_call(call)}` aggregates rows, which a {self.operator.title}"
            help = "put an Aggregate below, and use its columns here"
            raise error_at(PlanError, f"{message} cannot do", call, help)
        return stage.bind(node)

    def column(self, name: str, text: str, node: exp.Expr, stage: PlanStage) -> str:
        """An expression that must be a column of the input."""
        with about(name), placed_in(text):
            found = self.bound(node, stage)
            if not isinstance(found, exp.Column):
                help = "compute it with a Project below"
                raise error_at(PlanError, "this is not a column of the input", node, help)
            return str(found.name)


@contextmanager
def placed_in(text: str) -> Iterator[None]:
    """Places in errors are those in the text."""
    try:
        yield
    except TidemillError as error:
        raise texts.place_in(error, text) from None
