"""Random queries in the spellings of other databases: grouping sets, semi joins, quantiles."""

from __future__ import annotations

from random import Random

from tests.random.plans import SOURCES

_SIZES = ("RANGE 3", "RANGE 8", "RANGE 6 SLIDE 2", "ROWS 3", "PARTITION BY k ROWS 2")
_GROUPS = (
    "GROUP BY {k}",
    "GROUP BY {k}, {s}",
    "GROUP BY ROLLUP ({k}, {s})",
    "GROUP BY CUBE ({k}, {s})",
    "GROUP BY GROUPING SETS (({k}), ({s}), ())",
)
_CALLS = (
    "ARRAY_AGG({v})",
    "ARRAY_AGG(DISTINCT {v})",
    "ARRAY_AGG({s} ORDER BY {v} DESC, {f})",
    "COLLECT_SET({s})",
    "STRING_AGG({s}, '+')",
    "LISTAGG({s}, '') WITHIN GROUP (ORDER BY {f} DESC)",
    "MEDIAN({v})",
    "PERCENTILE({v}, 0.25) FILTER (WHERE {k} > 0)",
    "PERCENTILE({f}, array(0.1, 0.9))",
    "PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY {f} DESC)",
    "PERCENTILE_CONT(0.4) WITHIN GROUP (ORDER BY {v} DESC)",
    "MODE({s})",
    "MODE({f})",
    "MIN_BY({s}, {v})",
    "MAX_BY({f}, {s})",
    "BOOL_AND({v} > 0)",
    "BOOL_OR({s} = 'a')",
    "COUNT_IF({v} > 0)",
    "COUNT({v}, {s})",
    "COUNT(DISTINCT {v}, {s})",
    "APPROX_COUNT_DISTINCT({s})",
    "COVAR_POP({v}, {k})",
    "COVAR_SAMP({v}, {k})",
    "CORR({v}, {k})",
    "REGR_SLOPE({v}, {k})",
    "REGR_INTERCEPT({v}, {k})",
    "REGR_R2({v}, {k})",
    "REGR_SXY({v}, {f})",
    "REGR_COUNT({v}, {k})",
)


def random_construct(random: Random) -> str:
    """A query over one or two streams, grouped or not."""
    alias = {name: f"a.{name}" for name in "kvfs"}
    rows = f"{random.choice(SOURCES)} AS a WINDOW({random.choice(_SIZES)})"
    rows += _joined(random) if random.random() < 0.4 else ""
    if random.random() < 0.2:
        return f"SELECT * EXCEPT (f), v + 1 AS w, w * 2 AS x FROM {rows}"
    calls = random.sample(_CALLS, random.randint(1, 3))
    listed = ", ".join(f"{call.format(**alias)} AS c{n}" for n, call in enumerate(calls))
    grouped = random.choice(_GROUPS).format(**alias)
    keys = [alias["k"]] + ([alias["s"]] if alias["s"] in grouped else [])
    having = " HAVING COUNT(*) > 1" if random.random() < 0.2 else ""
    return f"SELECT {', '.join(keys)}, {listed} FROM {rows} {grouped}{having}"


def _joined(random: Random) -> str:
    kind = random.choice(["SEMI", "ANTI", "LEFT SEMI", "LEFT ANTI"])
    other = f"{random.choice(SOURCES)} AS b WINDOW({random.choice(_SIZES)})"
    on = random.choice(["a.k = b.k", "a.k = b.k AND a.v < b.v", "a.s = b.s", "a.v >= b.v"])
    if random.random() < 0.25:
        on += " AND b.k IN (SELECT k FROM delta)"
    return f" {kind} JOIN {other} ON {on}"
