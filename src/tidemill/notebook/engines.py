"""Which engine of a notebook a cell of SQL is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeGuard

from tidemill.errors import TidemillError, nearest

USUAL = "engine"
"""The name that is looked for first."""


class RunsSql(Protocol):
    """An engine, as far as cells use it."""

    def sql(self, text: str) -> Any: ...

    def listing(self) -> tuple[Any, ...]: ...


def engine_in(names: Mapping[str, Any], wanted: str | None = None) -> RunsSql:
    """The engine under a name; without one, that of the name `engine`, or the only one."""
    found = dict(_engines(names))
    if wanted is not None:
        if wanted not in found:
            raise _unknown(wanted, found)
        return found[wanted]
    if USUAL in found:
        return found[USUAL]
    if len({id(each) for each in found.values()}) == 1:
        return next(iter(found.values()))
    raise _unclear(found)


def _engines(names: Mapping[str, Any]) -> Iterator[tuple[str, RunsSql]]:
    # Names with an underscore are those of the shell itself, such as `_` for the last output.
    for name, value in names.items():
        if not name.startswith("_") and _is_engine(value):
            yield name, value


def _is_engine(value: object) -> TypeGuard[RunsSql]:
    # The class is asked: objects of others may do something when one asks them for a name.
    return all(callable(getattr(type(value), name, None)) for name in ("sql", "listing"))


def _unknown(wanted: str, found: Mapping[str, RunsSql]) -> TidemillError:
    near = nearest(wanted, found)
    guess = f"did you mean `{near}`? " if near else ""
    help = f"{guess}engines: {', '.join(found) or 'none'}"
    return TidemillError(f"there is no engine `{wanted}` in this notebook", help=help)


def _unclear(found: Mapping[str, RunsSql]) -> TidemillError:
    if not found:
        help = 'make one first: engine = tidemill.Engine(runtime="inprocess")'
        return TidemillError("there is no engine in this notebook", help=help)
    help = f"say which one: %%tidemill --engine {next(iter(found))}"
    return TidemillError(f"there are several engines: {', '.join(found)}", help=help)
