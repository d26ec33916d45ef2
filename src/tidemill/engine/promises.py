"""What users promise about streams that they register."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra import Range, Recurrence, Schema
from tidemill.errors import CatalogError


def value_ranges(
    stream: str, types: Schema, given: Mapping[str, Range | tuple[float, float]]
) -> dict[str, Range]:
    """The ranges of columns.

    >>> import pyarrow as pa
    >>> value_ranges("s", Schema.of(v=pa.float64()), {"v": (0, 1)})
    {'v': Range(low=0, high=1, clip=False)}
    """
    found = {}
    for name, limits in given.items():
        _check(stream, types, name)
        try:
            found[name] = limits if isinstance(limits, Range) else Range(*limits)
        except (TypeError, ValueError) as error:
            help = "give the least and the largest value, as in (0, 1)"
            raise CatalogError(f"the range of `{stream}.{name}`: {error}", help=help) from None
        if (reason := found[name].refused(types[name])) is not None:
            raise CatalogError(f"`{stream}.{name}` cannot have this range: {reason}")
    return found


def recurrence(
    stream: str, types: Schema, given: Mapping[str, int] | Recurrence | None
) -> Recurrence | None:
    """How often rows may agree in a column.

    >>> import pyarrow as pa
    >>> recurrence("s", Schema.of(id=pa.int64()), {"id": 3})
    Recurrence(most=3, per=('id',), within=None)
    """
    if given is None:
        return None
    if not isinstance(given, Recurrence):
        if len(given) != 1:
            help = 'name one column, as in {"id": 1}, or give a Recurrence'
            raise CatalogError(f"at_most of `{stream}` is about {len(given)} columns", help=help)
        ((name, most),) = given.items()
        given = Recurrence(most, (name,))
    for name in given.per:
        _check(stream, types, name)
    if given.most < 1:
        raise CatalogError(f"at_most of `{stream}` is {given.most}", help="at least 1 row")
    return given


def _check(stream: str, types: Schema, name: str) -> None:
    if name not in types:
        help = f"columns: {', '.join(types.names)}"
        raise CatalogError(f"`{stream}` has no column `{name}`", help=help)
