"""Tidemill: continuous SQL queries over data streams, with exact meaning.

Names are loaded when they are first used: a client of a server needs no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidemill.algebra import Range, Recurrence
    from tidemill.engine import Engine, Query, Report
    from tidemill.errors import (
        CatalogError,
        ExecutionError,
        PlanError,
        PlanWarning,
        ResourceError,
        SqlSyntaxError,
        TidemillError,
        UnsupportedError,
    )
    from tidemill.runtime.progress import Progress
    from tidemill.table import (
        Expr,
        TableExpr,
        all_of,
        any_of,
        avg,
        case,
        col,
        count,
        cube,
        exists,
        expr,
        fn,
        grouping_sets,
        lit,
        max,
        min,
        rollup,
        sum,
        table_expr,
        unnest,
        values,
    )

__version__ = "0.1.0"

__all__ = [
    "CatalogError",
    "Engine",
    "ExecutionError",
    "Expr",
    "PlanError",
    "PlanWarning",
    "Progress",
    "Query",
    "Range",
    "Recurrence",
    "Report",
    "ResourceError",
    "SqlSyntaxError",
    "TableExpr",
    "TidemillError",
    "UnsupportedError",
    "__version__",
    "all_of",
    "any_of",
    "avg",
    "case",
    "col",
    "count",
    "cube",
    "exists",
    "expr",
    "fn",
    "grouping_sets",
    "lit",
    "max",
    "min",
    "rollup",
    "sum",
    "table_expr",
    "unnest",
    "values",
]

_MAKERS = [name for name in __all__ if name.islower() and name != "__version__"]
_HOMES = {
    **dict.fromkeys(("Range", "Recurrence"), "tidemill.algebra"),
    **dict.fromkeys(("Engine", "Query", "Report"), "tidemill.engine"),
    "Progress": "tidemill.runtime.progress",
    **dict.fromkeys(("Expr", "TableExpr", *_MAKERS), "tidemill.table"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module `tidemill` has no attribute `{name}`")
    found = getattr(import_module(_HOMES.get(name, "tidemill.errors")), name)
    globals()[name] = found
    return found


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tidemill`: cells of SQL, and short errors."""
    from tidemill.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext tidemill`."""
    from tidemill.notebook.extension import unload

    unload(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
