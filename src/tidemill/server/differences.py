"""What a file says that does not run, what runs that it does not say, and how to bring it there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from tidemill.server.persist import Lasting
from tidemill.sql import CreateQuery, Creation, StartQuery, Statement, parse
from tidemill.sql.building import alter_query, query_of


@dataclass(frozen=True)
class FileDifference:
    """The difference between a file and what a server found in its folder.

    `steps` bring what runs to what the file says. What is `fixed` is defined otherwise, and cannot
    change while it is there; what is `besides` is not in the file, and stays: clients may have
    made it. A `problem` says why the file cannot be compared.
    """

    steps: tuple[Statement, ...] = ()
    fixed: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    problem: str = ""

    def lines(self) -> Iterator[str]:
        """What differs, a line for each name.

        >>> was = "CREATE STREAM s (x INT, t INT) ORDERED BY t; CREATE QUERY q AS SELECT x FROM s"
        >>> file = was.replace("SELECT x", "SELECT t") + "; CREATE VIEW v AS SELECT x FROM s"
        >>> for line in difference(parse(file), parse(was)).lines():
        ...     print(line)
        changed   q
        new       v
        """
        if self.problem:
            yield self.problem
        for name, steps in groupby(self.steps, lambda step: str(getattr(step, "name", ""))):
            is_new = isinstance(next(steps), Creation)
            yield f"{'new' if is_new else 'changed':10}{name}"
        for name in self.fixed:
            yield f"{'fixed':10}{name}: DROP it first, with what reads it"
        for name in self.besides:
            yield f"{'besides':10}{name}: not in the file"


def difference(wanted: Iterable[Statement], found: Iterable[Statement]) -> FileDifference:
    """What it takes to come from statements that were found to those of a file."""
    file, there = Lasting(wanted), _created(Lasting(found))
    steps: list[Statement] = []
    fixed: list[str] = []
    names = _created(file)
    for key, creation in names.items():
        old = there.get(key)
        if old is None:
            steps.append(creation)
            if isinstance(creation, CreateQuery) and key in file.running:
                steps.append(file.running[key])
        elif old.tree != creation.tree:
            if (change := _change(old, creation)) is not None:
                steps.append(change)
            else:
                fixed.append(creation.name)
    besides = [each.name for key, each in there.items() if key not in names]
    return FileDifference(tuple(steps), tuple(fixed), tuple(besides))


def _created(left: Lasting) -> dict[str, Creation]:
    """What there is, by its name, as it is defined now."""
    statements = parse(";\n".join(left.texts()))
    made = (each for each in statements if isinstance(each, Creation))
    return {each.name.casefold(): each for each in made}


def _change(old: Creation, new: Creation) -> Statement | None:
    """What makes a thing another one while it is there: queries may change, but not their sinks."""
    if not (isinstance(old, CreateQuery) and isinstance(new, CreateQuery)) or old.sink != new.sink:
        return None
    return alter_query(new.name, query_of(new))


def apply_order(steps: Iterable[Statement]) -> Iterator[tuple[Statement, ...]]:
    """Steps in their order; a query and its start belong together."""
    waiting: list[Statement] = []
    for step in steps:
        if waiting and not isinstance(step, StartQuery):
            yield tuple(waiting)
            waiting = []
        waiting.append(step)
    if waiting:
        yield tuple(waiting)
