"""LIKE and regular expressions.

Spark's are those of Java, DuckDB's those of RE2: a pattern that RE2 does not know, or that means
something else to it, is refused while planning, so patterns are constants.
"""

from __future__ import annotations

import re
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from tidemill.expressions.connection import connection
from tidemill.expressions.translate import Rule, Translator, constant_number, constant_text
from tidemill.expressions.typed import (
    BOOLEAN,
    INT,
    STRING,
    NotSupported,
    Typed,
    TypeMismatch,
    quoted_text,
)  # fmt: skip

# What RE2 takes for something else than Java: nested classes, possessive repetition, `$` before the
# end, words whose letters are not ASCII, flags (RE2 knows the case of all letters).
_OTHERWISE = re.compile(r"&&|\[[^\]\\]*\[|\\[bBhHvVRXGZQE]|[*+?}]\+|\$(?!\Z)|\(\?[^:=!<]")
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_BLANK = r"\t\n\x0B\f\r "
_LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_JAVA = {".": f"[^{_LINE_ENDS}]", r"\s": f"[{_BLANK}]", r"\S": f"[^{_BLANK}]"}


def _like(parts: Translator, node: exp.Expr, escape: str = "\\") -> Typed:
    if isinstance(node.expression, (exp.Any, exp.All)):
        raise NotSupported("LIKE ANY and LIKE ALL", node, "join several LIKE with OR or AND")
    text, pattern = (parts.arg(side, STRING, node).sql for side in (node.this, node.expression))
    inner = node.expression.unnest()
    if isinstance(inner, exp.Literal):
        _check_escapes(inner.name, escape, node)
    elif not isinstance(inner, exp.Null) and escape:
        pattern = f"spark_like({pattern}, {quoted_text(escape)})"
    if isinstance(node, exp.ILike):
        text, pattern = f"spark_lower({text})", f"spark_lower({pattern})"
    negated = "NOT " if node.args.get("negate") else ""
    return Typed(f"({text} {negated}LIKE {pattern} ESCAPE {quoted_text(escape)})", BOOLEAN, node)


def _check_escapes(pattern: str, escape: str, node: exp.Expr) -> None:
    """Spark takes the escape sign only before a sign that means something."""
    rest = re.sub(rf"{re.escape(escape)}[%_{re.escape(escape)}]", "", pattern)
    if escape in rest:
        message = f"`{escape}` in a pattern stands before %, _ or itself"
        raise TypeMismatch(message, node, f"write `{escape}{escape}` for `{escape}`")


def _escaped(parts: Translator, node: exp.Expr) -> Typed:
    found = _like(parts, node.this, constant_text(node.expression, "the escape sign"))
    return Typed(found.sql, found.type, node)


def _pattern(node: exp.Expr) -> str:
    """A constant pattern that means the same to Java and to RE2."""
    text = constant_text(node, "a pattern")
    if found := _OTHERWISE.search(text):
        raise NotSupported(
            f"`{found[0]}` in a regular expression", node, "write the pattern without it"
        )
    try:
        _answer(f"regexp_matches('', {quoted_text(text)})")
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].split("Error: ", 1)[-1]
        message = f"the regular expression `{text}`: {reason}"
        raise NotSupported(message, node, "write the pattern without it") from None
    return "".join(_as_java(part, node) for part in _PART.findall(text))


def _as_java(part: str, node: exp.Expr) -> str:
    """A part of a pattern: Java's dot stops at more line ends, and its blanks are one more."""
    if part.startswith("[") and r"\S" in part:
        raise NotSupported(r"`\S` in a class of signs", node, "write the signs")
    return part.replace(r"\s", _BLANK) if part.startswith("[") else _JAVA.get(part, part)


def _matched(parts: Translator, node: exp.Expr) -> Typed:
    if isinstance(node.expression.unnest(), exp.Null):
        return Typed("CAST(NULL AS BOOLEAN)", BOOLEAN, node)
    text, pattern = parts.arg(node.this, STRING, node).sql, _pattern(node.expression)
    if pattern.endswith("$") and not pattern.endswith(
        "\\$"
    ):  # Java's is also before a last newline
        pattern = rf"{pattern[:-1]}(\r\n|[{_LINE_ENDS}])?\z"
    return Typed(f"regexp_matches({text}, {quoted_text(pattern)})", BOOLEAN, node)


def _open_ended(node: exp.Expr) -> str:
    pattern = _pattern(node)
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        raise NotSupported("`$` in this regular expression", node, "write the pattern without it")
    return pattern


def _replaced(parts: Translator, node: exp.Expr) -> Typed:
    if node.args.get("position") is not None or node.args.get("occurrence") is not None:
        raise NotSupported("REGEXP_REPLACE from a position", node, "cut the text before")
    text, pattern = parts.arg(node.this, STRING, node).sql, _open_ended(node.expression)
    by = constant_text(node.args["replacement"], "the replacement")
    if _matches_nothing(pattern):
        raise NotSupported("a pattern that matches nothing", node.expression, "let it match a sign")
    quoted = [quoted_text(pattern), quoted_text(_replacement(by, node))]
    return Typed(f"regexp_replace({text}, {quoted[0]}, {quoted[1]}, 'g')", STRING, node)


def _replacement(text: str, node: exp.Expr) -> str:
    r"""What stands for a match: `$1` is a group, a backslash takes a sign as it is."""
    found = re.sub(
        r"\\(.)|\$(\d)|([\\$])", lambda m: _sign(m[1], m[2], node), text, flags=re.DOTALL
    )
    return found


def _sign(plain: str | None, group: str | None, node: exp.Expr) -> str:
    if group is not None:
        return "\\" + group
    if plain is None:
        raise TypeMismatch("`$` in a replacement is followed by a number", node, "write `\\\\$`")
    return "\\\\" if plain == "\\" else plain


def _matches_nothing(pattern: str) -> bool:
    return bool(_answer(f"regexp_full_match('', {quoted_text(pattern)})"))


def _answer(sql: str) -> Any:
    return connection().sql(f"SELECT {sql} AS answer").to_arrow_table().column(0)[0].as_py()


def _group(node: exp.Expr, pattern: str, default: int) -> int:
    group = constant_number(node.args.get("group"), "the group", default)
    written = constant_text(node.expression, "a pattern")
    known = re.compile(written).groups if _is_python(written) else 0
    if not 0 <= group <= known:
        raise TypeMismatch(f"the pattern has {known} groups", node, f"ask for one of 0 to {known}")
    return group


def _is_python(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _substring_found(parts: Translator, node: exp.Expr) -> Typed:
    """REGEXP_SUBSTR: what the pattern fits first; NULL if that is nothing."""
    whole = exp.Literal.number(0)
    found = exp.RegexpExtract(this=node.this.copy(), expression=node.expression.copy(), group=whole)
    text = parts.of(found).sql
    return Typed(f"nullif({text}, '')", STRING, node)


def _extracted(parts: Translator, node: exp.Expr) -> Typed:
    text, pattern = parts.arg(node.this, STRING, node).sql, _open_ended(node.expression)
    group = _group(node, pattern, 1)
    return Typed(f"regexp_extract({text}, {quoted_text(pattern)}, {group})", STRING, node)


def _all_extracted(parts: Translator, node: exp.Expr) -> Typed:
    text, pattern = parts.arg(node.this, STRING, node).sql, _open_ended(node.expression)
    group = _group(node, pattern, 1)
    sql = f"regexp_extract_all({text}, {quoted_text(pattern)}, {group})"
    return Typed(sql, pa.list_(STRING), node)


def _counted(parts: Translator, node: exp.Expr) -> Typed:
    text, pattern = parts.arg(node.this, STRING, node).sql, _open_ended(node.expression)
    if _matches_nothing(pattern):
        raise NotSupported("a pattern that matches nothing", node.expression, "let it match a sign")
    return Typed(f"CAST(len(regexp_extract_all({text}, {quoted_text(pattern)})) AS INT)", INT, node)


def _split(parts: Translator, node: exp.Expr) -> Typed:
    if constant_number(node.args.get("limit"), "the limit", -1) > 0:
        raise NotSupported("SPLIT with a limit", node, "split without a limit")
    text, pattern = parts.arg(node.this, STRING, node).sql, _open_ended(node.expression)
    if pattern and _matches_nothing(pattern):
        raise NotSupported("a pattern that matches nothing", node.expression, "let it match a sign")
    empty = f"CASE WHEN {text} = '' THEN [''] ELSE" if not pattern else ""
    sql = f"{empty} string_split_regex({text}, {quoted_text(pattern)}) {'END' if empty else ''}"
    return Typed(sql.strip(), pa.list_(STRING), node)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escaped,
    exp.RegexpLike: _matched,
    exp.RegexpReplace: _replaced,
    exp.RegexpExtract: _extracted,
    exp.RegexpSubstr: _substring_found,
    exp.RegexpExtractAll: _all_extracted,
    exp.RegexpCount: _counted,
    exp.RegexpSplit: _split,
}
