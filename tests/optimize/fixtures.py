"""Fixture files of rules: title, script, and the plan after the rule, or `unchanged`.

A script may begin with `-- after push_filters, ...`: rules that are applied before.
"""

from __future__ import annotations

from pathlib import Path

from tests.analyze.fixtures import Fixture
from tests.analyze.world import catalog, plan
from tidemill.optimize.driver import RULES
from tidemill.optimize.rule import RuleContext
from tidemill.optimize.statistics import Statistics

FOLDER = Path(__file__).parent / "plans"
BY_NAME = {rule.name: rule for rule in RULES}
_AFTER = "-- after "


def outcome(fixture: Fixture) -> str:
    """What the rule of the file makes of the plan of a script."""
    planned = plan(fixture.sql)
    before = planned.plan
    statistics = Statistics().for_plan(before, planned.hints)
    known = RuleContext(statistics, planned.hints, functions=catalog().functions)
    first = fixture.sql.split("\n", 1)[0]
    if first.startswith(_AFTER):
        for name in first.removeprefix(_AFTER).split(", "):
            before = BY_NAME[name].apply(before, known)
    rule = BY_NAME[Path(fixture.file).stem]
    after = rule.apply(before, known)
    return "unchanged" if after is before or after == before else str(after)
