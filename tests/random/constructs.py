"""Random queries in the spellings of other databases: grouping sets, semi joins, quantiles."""

from __future__ import annotations

from random import Random

from tests.random.data import TIME
from tests.random.plans import SOURCES

_SIZES = ("RANGE 3", "RANGE 8", "RANGE 6 SLIDE 2", "ROWS 3", "PARTITION BY k ROWS 2", "SESSION 3")
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
    "FIRST({s})",
    "LAST({v}) IGNORE NULLS",
    "LAST_VALUE({f}) FILTER (WHERE {k} > 0)",
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


_TABLES = (
    "TABLE(TUMBLE({}, 4))",
    "TUMBLE({}, 5)",
    "TABLE(HOP({}, 2, 6))",
    "HOP({}, 3, 3)",
    "CUMULATE({}, 2, 6)",
    "TABLE(SESSION({}, 3))",
)


def random_construct(random: Random) -> str:
    """A query over one or two streams, grouped or not."""
    alias = {name: f"a.{name}" for name in "kvfs"}
    rows = _rows(random)
    rows += _joined(random) if random.random() < 0.4 else ""
    if random.random() < 0.25:
        return _listed(random, rows)
    if random.random() < 0.3:
        return _over(random, rows)
    if random.random() < 0.2:
        return _first(random, rows)
    if random.random() < 0.2:
        return f"SELECT * EXCEPT (f), v + 1 AS w, w * 2 AS x FROM {rows}"
    calls = random.sample(_CALLS, random.randint(1, 3))
    listed = ", ".join(f"{call.format(**alias)} AS c{n}" for n, call in enumerate(calls))
    grouped = random.choice(_GROUPS).format(**alias)
    keys = [alias["k"]] + ([alias["s"]] if alias["s"] in grouped else [])
    having = " HAVING COUNT(*) > 1" if random.random() < 0.2 else ""
    return f"SELECT {', '.join(keys)}, {listed} FROM {rows} {grouped}{having}"


def _rows(random: Random) -> str:
    stream = random.choice(SOURCES)
    if random.random() < 0.7:
        return f"{stream} AS a WINDOW({random.choice(_SIZES)})"
    return random.choice(_TABLES).format(f"TABLE {stream}, DESCRIPTOR({TIME})") + " AS a"


_LISTS = (
    "ARRAY(a.v, a.k)",
    "CASE WHEN a.k > 0 THEN ARRAY(a.v, 1, a.v) END",
    "ARRAY_COMPACT(ARRAY(a.v))",
    "ARRAY_REMOVE(ARRAY(a.v, 1), 1)",
)
_ROWS_OF_LISTS = (
    "SELECT a.k, x FROM {rows} CROSS JOIN UNNEST({list}) AS u(x)",
    "SELECT a.s, x, n FROM {rows} LEFT JOIN UNNEST({list}) WITH ORDINALITY AS u(x, n) ON TRUE",
    "SELECT a.k, SUM(x) AS n FROM {rows} JOIN UNNEST({list}) AS u(x) ON x > a.k GROUP BY a.k",
    "SELECT a.k, p, x FROM {rows} LATERAL VIEW POSEXPLODE({list}) u AS p, x WHERE x > 0",
    "SELECT DISTINCT x, y FROM {rows} LATERAL VIEW OUTER EXPLODE({list}) u AS x"
    " LATERAL VIEW EXPLODE(ARRAY(x, a.k)) w AS y",
    "SELECT a.k, EXPLODE({list}) AS x FROM {rows} ORDER BY x DESC LIMIT 3",
    "SELECT a.k, POSEXPLODE_OUTER({list}) AS (p, x) FROM {rows}",
    "SELECT a.k, INLINE(ARRAY(NAMED_STRUCT('x', a.v, 'y', a.s), NULL)) FROM {rows}",
    "SELECT a.k, EXPLODE(COLLECT_LIST(a.v)) AS x FROM {rows} GROUP BY a.k",
    "SELECT a.k FROM {rows} WHERE EXISTS (SELECT 1 FROM UNNEST({list}) AS u(x) WHERE x = a.k)",
    "SELECT a.k, (SELECT MAX(x) FROM UNNEST({list}) AS u(x)) AS m FROM {rows}",
    "SELECT a.s, y FROM {rows} JOIN (VALUES (0, 'a'), (1, NULL), (1, 'b')) AS w(x, y) ON x = a.k",
    "SELECT a.k FROM {rows} WHERE a.k IN (SELECT x FROM VALUES (0), (2) AS w(x))",
)


_FUNCTIONS = (
    "ROW_NUMBER()",
    "RANK()",
    "DENSE_RANK()",
    "PERCENT_RANK()",
    "CUME_DIST()",
    "NTILE(2)",
    "LAG(a.v)",
    "LAG(a.s, 2) IGNORE NULLS",
    "LEAD(a.v, 1, a.k)",
)
_FRAMED = (
    "FIRST_VALUE(a.f)",
    "LAST_VALUE(a.s) IGNORE NULLS",
    "NTH_VALUE(a.v, 2)",
    "COUNT(*)",
    "COUNT(a.s) FILTER (WHERE a.k > 0)",
    "SUM(a.v)",
    "SUM(a.f)",
    "AVG(a.f)",
    "MIN(a.s)",
    "MAX(a.v)",
    "COLLECT_LIST(a.s)",
    "MEDIAN(a.v)",
    "CORR(a.v, a.k)",
)
_ORDERS = ("a.v", "a.f DESC", "a.s NULLS LAST, a.k", "a.k DESC NULLS LAST", "a.v + 1")
_ROW_FRAMES = (
    "",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
_VALUE_FRAMES = (
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING",
    "RANGE 1 PRECEDING",
)


def _over(random: Random, rows: str) -> str:
    """Functions over rows, maybe with a condition on one of them, or of groups."""
    order = random.choice(_ORDERS)
    by = random.choice(["", "PARTITION BY a.k", "PARTITION BY a.s, a.k % 2"])
    frames = _ROW_FRAMES if "," in order or "a.s" in order else (*_ROW_FRAMES, *_VALUE_FRAMES)
    window = f"{by} ORDER BY {order}" if random.random() < 0.85 else by
    frame = random.choice(frames) if "ORDER" in window else ""
    calls = [f"{random.choice(_FUNCTIONS)} OVER ({window})"]
    calls += [f"{random.choice(_FRAMED)} OVER ({window} {frame})" for _ in range(2)]
    if random.random() < 0.2:
        ranked = "RANK() OVER (ORDER BY COUNT(*) DESC, MAX(a.v))"
        return f"SELECT a.k, {ranked} AS r FROM {rows} GROUP BY a.k QUALIFY r <= 2"
    listed = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    qualify = random.choice(["", "", " QUALIFY c0 <= 2", " QUALIFY c0 IS NULL OR a.k > 0"])
    qualify = "" if "LAG(a.s" in calls[0] and "<=" in qualify else qualify
    return f"SELECT a.k, a.v, {listed} FROM {rows}{qualify}"


_FIRST = (
    "SELECT a.k, a.s FROM {rows} ORDER BY {order} FETCH FIRST {n} ROWS WITH TIES",
    "SELECT a.v FROM {rows} ORDER BY {order} OFFSET 1 ROW FETCH NEXT {n} ROWS WITH TIES",
    "SELECT a.k, COUNT(*) AS c FROM {rows} GROUP BY a.k ORDER BY c DESC LIMIT {n} WITH TIES",
)
_FIRST_OF_EACH = (
    "SELECT b.k, x.v, x.s FROM {around} CROSS JOIN LATERAL ({rows}) AS x",
    "SELECT b.s, x.v FROM {around} LEFT JOIN LATERAL ({rows}) AS x ON TRUE",
    "SELECT b.v FROM {around} WHERE b.v IN (SELECT x.v FROM ({rows}) AS x)",
    "SELECT b.v, b.f FROM {around} WHERE b.v >= ALL (SELECT x.v FROM ({rows}) AS x)",
)
_FIRST_VALUE = "SELECT b.k, (SELECT a.v FROM {rows} ORDER BY {order} LIMIT 1) AS v FROM {around}"


def _first(random: Random, rows: str) -> str:
    """The first rows with their equals, or those of each row of a query around."""
    order, n = random.choice(_ORDERS), random.randint(1, 3)
    if random.random() < 0.4:
        return random.choice(_FIRST).format(rows=rows, order=order, n=n)
    around = f"{random.choice(SOURCES)} AS b WINDOW({random.choice(_SIZES)})"
    inner = f"{random.choice(SOURCES)} AS a WINDOW({random.choice(_SIZES)})"
    inner += f" WHERE {random.choice(['a.k = b.k', 'a.s = b.s AND a.v > 0', 'a.v < b.v'])}"
    if random.random() < 0.3:
        return _FIRST_VALUE.format(around=around, rows=inner, order=order)
    limit = random.choice([f"LIMIT {n}", f"LIMIT {n} OFFSET 1", f"LIMIT {n} WITH TIES"])
    first = f"SELECT a.v, a.s FROM {inner} ORDER BY {order} {limit}"
    return random.choice(_FIRST_OF_EACH).format(around=around, rows=first)


def _listed(random: Random, rows: str) -> str:
    """Rows out of lists, and rows that are spelled out."""
    return random.choice(_ROWS_OF_LISTS).format(rows=rows, list=random.choice(_LISTS))


def _joined(random: Random) -> str:
    kind = random.choice(["SEMI", "ANTI", "LEFT SEMI", "LEFT ANTI"])
    other = f"{random.choice(SOURCES)} AS b WINDOW({random.choice(_SIZES)})"
    on = random.choice(["a.k = b.k", "a.k = b.k AND a.v < b.v", "a.s = b.s", "a.v >= b.v"])
    if random.random() < 0.25:
        on += " AND b.k IN (SELECT k FROM delta)"
    return f" {kind} JOIN {other} ON {on}"
