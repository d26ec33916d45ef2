"""Where rows come from."""

from __future__ import annotations

import re
from typing import Final

from tidemill.algebra import Plan
from tidemill.analyze.references import source_plan
from tidemill.catalog import Derived
from tidemill.compose.bench import Bench
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.scans import AS_COLUMN, LEAVE_OUT, derived_scan, scan_columns

_ALIAS: Final = re.compile(r"[^#`\s][^#`]*")


def _scan(bench: Bench) -> Plan:
    with about("source"):
        entry = bench.catalog.lookup(bench.text("source"))
    alias = alias_of(bench, entry.name)
    bench.context.depends_on.add(entry.name)
    bench.context.domain = entry.domain
    with_time = bench.choice("time") == AS_COLUMN
    if isinstance(entry, Derived):
        return derived_scan(entry, alias)
    return source_plan(entry, alias, scan_columns(entry, with_time))


def alias_of(bench: Bench, source: str) -> str:
    """The name of a source in a plan."""
    alias = bench.text("alias") or source
    if not _ALIAS.fullmatch(alias):
        help = "use letters, digits and underscores"
        raise wrong(f"`{alias}` cannot be an alias", help, "alias")
    return alias


OPERATORS = (
    Card(
        "scan",
        "Scan",
        "sources",
        "Reads a stream or a relation: every plan begins with one.",
        _scan,
        (
            Setting(
                "source",
                "Stream or relation",
                "source",
                "The name of the stream or relation to read.",
                "bid",
                required=True,
            ),
            Setting(
                "alias",
                "Alias",
                "text",
                "Another name in this plan; needed if it is read twice.",
                "b",
            ),
            Setting(
                "time",
                "Time",
                "choice",
                "Whether the time of a row is also a column.",
                LEAVE_OUT,
                default=LEAVE_OUT,
                choices=(LEAVE_OUT, AS_COLUMN),
            ),
        ),
        least=0,
        most=0,
    ),
)
