"""OVER in expressions: which function, over which rows, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from sqlglot import exp

from tidemill.algebra.over_rows import PICKS, RANKS, SHIFTS, RowFrame
from tidemill.analyze.aggregate_calls import only_where, plain_call, read_call
from tidemill.analyze.frames import distances_of, read_frame
from tidemill.analyze.functions import name_of_call
from tidemill.analyze.limits import MOST_DIGITS
from tidemill.analyze.trees import rewrite
from tidemill.catalog.catalog import Catalog
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

Named = Mapping[str, exp.Window]
"""The windows of the clause WINDOW, by their names in lower case."""


class OverExpr(exp.Expression):
    """A function over rows, with its arguments and the keys of its window as parts."""

    arg_types: ClassVar[dict[str, bool]] = {
        "function": True,
        "expressions": False,
        "partition_by": False,
        "order": False,
        "frame": True,
        "distances": False,
        "options": False,
        "ignores_nulls": False,
        "aggregates": False,
    }

    @property
    def frame(self) -> RowFrame:
        """The rows that it looks at."""
        found: RowFrame = self.args["frame"]
        return found


def named_windows(select: exp.Select) -> dict[str, exp.Window]:
    """The windows that the clause WINDOW names; each may build on those before it."""
    known: dict[str, exp.Window] = {}
    for window in select.args.get("windows") or []:
        known[window.name.casefold()] = _resolved(window, known)
    return known


def read_over(node: exp.Expr, named: Named, catalog: Catalog) -> exp.Expr:
    """The expression with every OVER read."""
    if node.find(exp.Window) is None:
        return node

    def change(part: exp.Expr) -> exp.Expr | None:
        return _read(part, named, catalog) if isinstance(part, exp.Window) else None

    return rewrite(node, change)


def _resolved(window: exp.Window, known: Named) -> exp.Window:
    """The window with what it takes from another one, which it names."""
    name = window.args.get("alias")
    if name is None:
        return window
    base = known.get(name.name.casefold())
    if base is None:
        help = f"WINDOW has: {', '.join(known)}" if known else "add WINDOW w AS (...) behind FROM"
        raise error_at(PlanError, f"unknown window `{name.name}`", name, help)
    if window.args.get("partition_by"):
        help = "write it where the window is named, or name none"
        message = f"PARTITION BY would replace that of the window `{name.name}`"
        raise error_at(PlanError, message, window, help)
    whole = window.copy()
    for part in ("partition_by", "order", "spec"):
        value = window.args.get(part) or base.args.get(part)
        copies = [each.copy() for each in value] if isinstance(value, list) else value
        whole.set(part, copies.copy() if isinstance(copies, exp.Expr) else copies)
    return whole


def _read(window: exp.Window, named: Named, catalog: Catalog) -> OverExpr:
    whole = _resolved(window, named)
    order = whole.args.get("order")
    call, ignores_nulls, condition = unwrapped(whole.this)
    found = OverExpr(
        partition_by=[part.copy() for part in whole.args.get("partition_by") or []],
        order=[term.copy() for term in order.expressions] if order is not None else [],
        frame=read_frame(whole),
        distances=distances_of(whole),
        ignores_nulls=ignores_nulls,
        **_function(call, condition, catalog),
    )
    for argument in [*found.expressions, *found.args["partition_by"], *found.args["order"]]:
        if (inner := argument.find(exp.Window)) is not None:
            help = "compute the inner one in a subquery in FROM"
            raise error_at(PlanError, "OVER stands inside another OVER", inner, help)
    _place(found, window)
    return found


def _place(found: OverExpr, window: exp.Window) -> None:
    metas = [part.meta for part in window.walk() if "start" in part.meta]
    if metas:
        last = max(metas, key=lambda meta: int(meta["end"]))
        found.meta.update(min(metas, key=lambda meta: int(meta["start"])))
        found.meta["end"] = last["end"]


def unwrapped(node: exp.Expr) -> tuple[exp.Expr, bool, exp.Expr | None]:
    """The function, whether it leaves NULLs out, and the condition of FILTER."""
    ignores, condition = False, None
    while isinstance(node, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        ignores = ignores or isinstance(node, exp.IgnoreNulls)
        condition = node.expression.this if isinstance(node, exp.Filter) else condition
        node = node.this
    return node, ignores, condition


def _function(call: exp.Expr, condition: exp.Expr | None, catalog: Catalog) -> dict[str, object]:
    name = _name(call)
    if condition is not None and name in (*RANKS, *SHIFTS, *PICKS):
        raise error_at(PlanError, f"{name} takes no FILTER", condition, "use CASE in its argument")
    if name == "NTILE":
        return {"function": name, "options": (_whole_number(call.this, call, 1),)}
    if name in RANKS:
        return {"function": name}
    if name in SHIFTS:
        distance = _whole_number(call.args.get("offset"), call, 0, usual=1)
        default = call.args.get("default")
        parts = [call.this.copy(), *([default.copy()] if default is not None else [])]
        return {"function": name, "expressions": parts, "options": (distance,)}
    if name in PICKS:
        place = call.args.get("offset") or call.args.get("expression")
        options = (_whole_number(place, call, 1),) if name == "NTH_VALUE" else ()
        return {"function": name, "expressions": [call.this.copy()], "options": options}
    return _aggregate(call, condition, catalog)


def _name(call: exp.Expr) -> str:
    if isinstance(call, exp.First | exp.Last):
        return f"{call.key.upper()}_VALUE"
    if isinstance(call, exp.Anonymous):
        return str(call.name).upper()
    return call.sql_name() if isinstance(call, exp.Func) else ""


def _aggregate(call: exp.Expr, condition: exp.Expr | None, catalog: Catalog) -> dict[str, object]:
    name = name_of_call(call).lower()
    found = plain_call(name, call) if name in catalog.aggregates else read_call(call)
    if found is None:
        message = f"`{name_of_call(call)}` is not supported with OVER"
        help = f"there are {', '.join((*RANKS, *SHIFTS, *PICKS))} and the aggregates"
        raise error_at(UnsupportedError, message, call, help)
    if found.distinct:
        help = "use DISTINCT in a subquery in FROM"
        raise error_at(UnsupportedError, "OVER does not take DISTINCT", call, help)
    if condition is not None:
        found = replace(found, argument=only_where(found.argument, condition))
    parts = [] if found.argument is None else [found.argument.copy()]
    return {
        "function": found.function,
        "expressions": parts,
        "options": found.options,
        "aggregates": True,
    }


def _whole_number(
    node: exp.Expr | None, call: exp.Expr, least: int, usual: int | None = None
) -> int:
    if node is None and usual is not None:
        return usual
    literal = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    if not literal or node is None or len(node.name) > MOST_DIGITS or int(node.name) < least:
        message = f"{_name(call)} takes a whole number, at least {least}"
        if literal and node is not None and len(node.name) > MOST_DIGITS:
            message = f"{_name(call)} takes a number of at most {MOST_DIGITS} digits"
        raise error_at(PlanError, message, node or call, "write the number itself")
    return int(node.name)
