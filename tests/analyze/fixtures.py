"""Fixture files: title, script, expected text.

A file is a list of blocks, divided by empty lines. A block starts with `-- title`, then comes
the script, a line `=>`, and what planning its last statement gives: the plan, its hints and
warnings, or the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.analyze.world import plan
from tidemill.catalog import Hints
from tidemill.errors import TidemillError

FOLDER = Path(__file__).parent / "plans"
_ARROW = "\n=>\n"


@dataclass(frozen=True)
class Fixture:
    file: str
    title: str
    sql: str
    expected: str

    def __str__(self) -> str:
        return f"-- {self.title}\n{self.sql}{_ARROW}{self.expected}\n"


def load(path: Path) -> list[Fixture]:
    blocks = [block for block in path.read_text().split("\n\n") if block.strip()]
    return [_parse(path.name, block.strip("\n")) for block in blocks]


def _parse(file: str, block: str) -> Fixture:
    title, rest = block.split("\n", 1)
    assert title.startswith("-- "), f"{file}: a block begins with its title, not with {title!r}"
    sql, _, expected = f"{rest}\n".partition(_ARROW)
    return Fixture(file, title.removeprefix("-- "), sql.strip("\n"), expected.strip("\n"))


def all_fixtures(folder: Path = FOLDER) -> list[Fixture]:
    return [fixture for path in sorted(folder.glob("*.txt")) for fixture in load(path)]


def save(path: Path, fixtures: Iterable[Fixture]) -> None:
    path.write_text("\n".join(map(str, fixtures)))


def outcome(sql: str) -> str:
    """What planning a script gives, as text."""
    try:
        planned = plan(sql)
    except TidemillError as error:
        return str(error)
    return "\n".join([str(planned.plan), *_shown(planned.hints), *map(str, planned.warnings)])


def _shown(hints: Hints) -> list[str]:
    """What the hints say, each on a line."""
    values = {name: value for name, value in vars(hints).items() if value not in ({}, None, False)}
    texts = {name: sorted(v) if isinstance(v, frozenset) else v for name, v in values.items()}
    return [f"{name}: {text}" for name, text in texts.items()]
