"""The page about functions tells of all of Spark's which are there.

`python -m tests.expressions.test_functions` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from tests.expressions.spark_functions import functions
from tidemill.expressions.names import NAMES

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"

_INTRODUCTION = """# Functions

<!-- python -m tests.expressions.test_functions writes this page -->

Of the {every} functions and operators of single rows in Spark's own list that give the same
answer whenever they are computed, {there} are there, with Spark's values and types; the others
are refused. Left out of the list are functions of data that rows here do not have: Avro,
Protobuf, sketches, geometries, variants, vectors and XML.
[Language](language.md#types-and-expressions) tells what the functions take, and
[Python functions](python-api.md) stand in for others.

| group | there | not there |
|---|---|---|"""

# Written as signs and words of the language, not called.
OPERATORS = frozenset(
    {"!", "%", "&", "*", "+", "-", "/", "<", "<=", "<=>", "=", "==", ">", ">=", "^", "|", "~"}
    | {"and", "or", "not", "in", "between", "when", "case", "<<", ">>", "!=", "<>", "||"}
)
# Another value whenever they are computed, or one of the session and not of the row.
UNREPEATABLE = frozenset(
    {"rand", "randn", "random", "uuid", "uniform", "randstr", "shuffle", "now", "curdate"}
    | {"current_date", "current_time", "current_timestamp", "current_timezone", "localtime"}
    | {"localtimestamp", "monotonically_increasing_id", "spark_partition_id", "version"}
    | {"current_catalog", "current_database", "current_path", "current_schema", "current_user"}
    | {"session_user", "user", "input_file_name", "input_file_block_length"}
    | {"input_file_block_start", "java_method", "reflect", "try_reflect"}
)
# Ways to write windows, see the page about the language.
WINDOWS = frozenset({"window", "window_time", "session_window"})
# Formats and data types that rows of Tidemill do not have.
OTHER_TYPES = ("avro", "protobuf", "sketch", "st", "variant", "xml", "vector")


def counted() -> dict[str, list[str]]:
    """The functions that have the same answer for the same row, by their group."""
    found: dict[str, list[str]] = {}
    for name, group in functions().items():
        other = group.removesuffix("_funcs") in OTHER_TYPES
        if not other and name not in UNREPEATABLE | WINDOWS:
            found.setdefault(group.removesuffix("_funcs"), []).append(name)
    return found


def is_there(name: str) -> bool:
    return name in NAMES or name in OPERATORS


def page() -> str:
    every = [name for names in counted().values() for name in names]
    there = sum(map(is_there, every))
    lines = [_INTRODUCTION.format(every=len(every), there=there)]
    for group, names in sorted(counted().items()):
        yes, no = ([f"`{_cell(n)}`" for n in names if is_there(n) is one] for one in (True, False))
        lines.append(f"| {group} | {', '.join(yes)} | {', '.join(no)} |")
    return "\n".join(lines) + "\n"


def _cell(name: str) -> str:
    return name.replace("|", "\\|")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page()


def test_names_are_those_of_spark() -> None:
    grammar = {"cast", "try_cast", "extract", "position", "overlay", "trim", "substring", "div"}
    grammar |= {"timestampadd", "timestampdiff"}
    assert NAMES - set(functions()) - grammar == set()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
