"""Plans that people build by hand."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidemill.wire.base import Column, Domain, Name, Request, WireModel
from tidemill.wire.plans import PlanNode, PlanUsage, RuleStep
from tidemill.wire.queries import QueryEntry

Level = Literal["logical", "physical"]
SettingType = Literal[
    "source",  # the name of a stream or relation
    "columns",  # expressions, each with a name perhaps: `price * 2 AS doubled`
    "condition",  # an expression that is true or false
    "integer",
    "number",
    "duration",  # a length of time: `5 MINUTES`, or `5` where time is a number
    "choice",
    "text",
    "order",  # columns, each with DESC perhaps: `price DESC`
    "aggregates",  # calls of aggregates, each with a name perhaps: `COUNT(*) AS n`
]
Text = Annotated[str, Field(max_length=10_000)]
Environment = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Value = Text | Annotated[int, Field(ge=-(2**63), lt=2**63)] | Number | bool | None
Values = Value | Annotated[list[Text], Field(max_length=500)]


class ComposedNode(Request):
    """An operator: its kind, its settings, and the ids of its inputs."""

    id: Name
    kind: Annotated[str, Field(max_length=100)]
    settings: Annotated[dict[Name, Values], Field(max_length=50)] = {}
    inputs: Annotated[list[Name], Field(max_length=500)] = []
    x: Environment = 0
    y: Environment = 0


class ComposedPlan(Request):
    """Operators, and which of them gives the answer; by default the only end."""

    level: Level = "logical"
    nodes: Annotated[list[ComposedNode], Field(max_length=500)]
    output: Name | None = None


class OpenRequest(Request):
    """A query, by its name or its text."""

    query: Annotated[str, Field(min_length=1, max_length=200_000)]
    level: Level = "logical"


class RunComposed(Request):
    """A composed plan, and the name under which it runs."""

    name: Name
    plan: ComposedPlan
    partial: bool = False


class PaletteSetting(WireModel):
    """A setting of an operator."""

    name: str
    title: str
    type: SettingType
    required: bool
    default: str | int | float | bool | list[str] | None
    choices: list[str]
    help: str
    example: str


class InputRange(WireModel):
    """How many inputs an operator has."""

    min: int
    max: int


class PaletteOperator(WireModel):
    """An operator of the palette."""

    kind: str
    title: str
    group: str
    summary: str
    inputs: InputRange
    settings: list[PaletteSetting]


class Palette(WireModel):
    """The operators of a level."""

    level: Level
    operators: list[PaletteOperator]


class ComposeProblem(WireModel):
    """What is wrong with a node, one of its settings or inputs, or the whole plan."""

    message: str
    help: str | None
    node: str | None
    setting: str | None
    input: int | None
    line: int | None
    column: int | None
    length: int | None


class CheckedNode(WireModel):
    """What a node gives, if it is right."""

    id: str
    state: Literal["right", "wrong", "waiting"]
    columns: list[Column] | None
    domain: Domain
    windowed: bool


class ComposedPlans(WireModel):
    """The plans of a composed one; of a physical one that SQL cannot say, only that."""

    logical: PlanNode | None
    optimized: PlanNode | None
    physical: PlanNode


class ComposeCheck(WireModel):
    """What was found out about a composed plan, and what it means if it is right."""

    level: Level
    complete: bool
    output: str | None
    columns: list[Column] | None
    domain: Domain
    nodes: list[CheckedNode]
    errors: list[ComposeProblem]
    warnings: list[ComposeProblem]
    sql: str | None
    sql_reason: str | None
    plans: ComposedPlans | None = None
    texts: dict[str, str] | None = None
    rules: list[RuleStep] | None = None
    total: PlanUsage | None = None


class ComposeRun(WireModel):
    """A composed plan that runs; a restart of the server knows it, too."""

    query: QueryEntry
    sql: str | None
