"""The page about the language lists the functions as they are.

`python -m tests.expressions.test_docs` writes the table anew.
"""

from __future__ import annotations

from pathlib import Path

from tidemill.expressions.names import FUNCTIONS

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
START = "| about | functions |\n|---|---|\n"


def table() -> str:
    rows = (
        f"| {about} | {', '.join(f'`{name}`' for name in names)} |\n"
        for about, names in FUNCTIONS.items()
    )
    return START + "".join(rows)


def written(page: str) -> str:
    start = page.index(START)
    return page[start : page.index("\n\n", start) + 1]


def test_the_table_of_functions() -> None:
    assert written(PAGE.read_text("utf-8")) == table()


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page.replace(written(page), table()), "utf-8")
