"""What a palette shows: operators, and the settings that each of them has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemill.compose.model import Value
from tidemill.wire.compose import SettingType

if TYPE_CHECKING:
    from tidemill.algebra import Plan
    from tidemill.compose.bench import Bench


@dataclass(frozen=True)
class Setting:
    """One setting of an operator."""

    name: str
    title: str
    type: SettingType
    help: str
    example: str = ""
    required: bool = False
    default: Value = None
    choices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The setting, for a page."""
        return {
            "name": self.name,
            "title": self.title,
            "type": self.type,
            "required": self.required,
            "default": self.default,
            "choices": list(self.choices),
            "help": self.help,
            "example": self.example,
        }


@dataclass(frozen=True)
class Card:
    """A kind of node: what it is called and does, its settings, and how its plan is built."""

    kind: str
    title: str
    group: str
    summary: str
    build: Callable[[Bench], Plan]
    settings: tuple[Setting, ...] = ()
    least: int = 1
    most: int = 1

    def setting(self, name: str) -> Setting:
        """A setting by its name."""
        return next(each for each in self.settings if each.name == name)

    def to_json(self) -> dict[str, Any]:
        """The operator, for a page."""
        return {
            "kind": self.kind,
            "title": self.title,
            "group": self.group,
            "summary": self.summary,
            "inputs": {"min": self.least, "max": self.most},
            "settings": [setting.to_json() for setting in self.settings],
        }


def kind_name(node: type[Plan]) -> str:
    """The kind of a node in composed plans: its name, in small letters.

    >>> from tidemill.algebra import CountWindow
    >>> from tidemill.physical.operators.count_window import CountWindowExec
    >>> kind_name(CountWindow), kind_name(CountWindowExec)
    ('count_window', 'count_window')
    """
    return "_".join(re.findall("[A-Z][a-z]*", node.__name__.removesuffix("Exec"))).lower()
