"""Composed plans as data: nodes, their settings and inputs, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from tidemill.errors import PlanError, TidemillError

Level = Literal["logical", "physical"]
LEVELS: tuple[Level, ...] = ("logical", "physical")

Value = str | int | float | bool | None | Sequence[str]
"""What a setting may hold: a text, a number, or a list of texts."""


@dataclass(frozen=True)
class Node:
    """An operator of a composed plan, with the ids of its inputs and its place on the page."""

    id: str
    kind: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    x: float = 0
    y: float = 0

    def to_json(self) -> dict[str, Any]:
        """The node as a page keeps it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "settings": dict(self.settings),
            "inputs": list(self.inputs),
            "x": self.x,
            "y": self.y,
        }


@dataclass(frozen=True)
class Composed:
    """A plan in the making: operators that know their inputs. `output` is the last one's id."""

    level: Level
    nodes: tuple[Node, ...]
    output: str | None = None

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Composed:
        """Read a composed plan.

        >>> node = {"id": "n1", "kind": "scan", "settings": {"source": "bid"}}
        >>> Composed.from_json({"level": "logical", "nodes": [node]}).nodes[0].kind
        'scan'
        """
        try:
            nodes = tuple(
                Node(
                    str(each["id"]),
                    str(each["kind"]),
                    dict(each.get("settings") or {}),
                    tuple(map(str, each.get("inputs") or ())),
                    float(each.get("x") or 0),
                    float(each.get("y") or 0),
                )
                for each in data.get("nodes") or ()
            )
            level, output = data.get("level", "logical"), data.get("output")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            help = 'a node is {"id", "kind", "settings", "inputs", "x", "y"}'
            raise TidemillError("this is not a composed plan", help=help) from error
        if level not in LEVELS:
            help = f"levels: {', '.join(LEVELS)}"
            raise TidemillError(f"there is no level `{level}` of plans", help=help)
        return Composed(level, nodes, None if output is None else str(output))

    def to_json(self) -> dict[str, Any]:
        """The plan as a page keeps it."""
        nodes = [node.to_json() for node in self.nodes]
        return {"level": self.level, "nodes": nodes, "output": self.output}


@dataclass(frozen=True)
class PlanProblem:
    """Something wrong, or a warning: with a node, one of its settings, or one of its inputs.

    A place (line, column, length) is one in the text of the setting.
    """

    message: str
    help: str | None = None
    node: str | None = None
    setting: str | None = None
    input: int | None = None
    line: int | None = None
    column: int | None = None
    length: int | None = None

    def to_json(self) -> dict[str, Any]:
        """All that is known, for a page."""
        return dict(vars(self))


class Wrong(Exception):
    """An error while a node is built: what it is about, and the error of the language."""

    def __init__(
        self, error: TidemillError, setting: str | None = None, input: int | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.setting = setting
        self.input = input

    def problem(self, node: str) -> PlanProblem:
        """The error, as one of a node."""
        error = self.error
        has_place = self.setting is not None and error.line is not None
        place = (error.line, error.column, error.length) if has_place else (None, None, None)
        return PlanProblem(error.message, error.help, node, self.setting, self.input, *place)


@contextmanager
def about(setting: str) -> Iterator[None]:
    """Errors of the language that are raised in here are about a setting."""
    try:
        yield
    except TidemillError as error:
        raise Wrong(error, setting) from None


def wrong(message: str, help: str, setting: str | None = None, input: int | None = None) -> Wrong:
    """An error of our own."""
    return Wrong(PlanError(message, help=help), setting, input)
