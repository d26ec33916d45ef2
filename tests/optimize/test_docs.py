"""The page about the optimizer lists the rules as they are.

`python -m tests.optimize.test_docs` writes the table anew.
"""

from __future__ import annotations

from pathlib import Path

from tidemill.optimize import RULES

PAGE = Path(__file__).parents[2] / "docs" / "optimizer.md"
START = "| rule | what it does | when it applies |\n|---|---|---|\n"


def table() -> str:
    rows = (f"| `{rule.name}` | {rule.summary} | {rule.needs or 'always'} |\n" for rule in RULES)
    return START + "".join(rows)


def written(page: str) -> str:
    start = page.index(START)
    return page[start : page.index("\n\n", start) + 1]


def test_the_table_of_rules() -> None:
    assert written(PAGE.read_text("utf-8")) == table()


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page.replace(written(page), table()), "utf-8")
