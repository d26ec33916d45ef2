"""Functions of texts."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import name_of
from tidemill.expressions.casts import cast, is_free
from tidemill.expressions.translate import (
    Rule,
    Translator,
    constant_number,
    constant_text,
    name_of_node,
    simple,
)
from tidemill.expressions.typed import (
    BINARY,
    BOOLEAN,
    INT,
    INTERVALS,
    NULL,
    STRING,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
    quoted_text,
)  # fmt: skip

_ALL = "2147483647"


def _length(bits: int) -> Rule:
    """The number of characters of a text, or of bytes; or how many bits they are."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        found = parts.of(node.this)
        if found.type == BINARY:
            return Typed(f"CAST(octet_length({found.sql}) * {max(bits, 1)} AS INT)", INT, node)
        text = parts.arg(node.this, STRING, node).sql
        count = f"strlen({text}) * {bits}" if bits else f"length({text})"
        return Typed(f"CAST({count} AS INT)", INT, node)

    return rule


def _substring(parts: Translator, node: exp.Expr) -> Typed:
    text = parts.arg(node.this, STRING, node).sql
    start = parts.arg(node.args["start"], INT, node).sql
    length = node.args.get("length")
    count = _ALL if length is None else parts.arg(length, INT, node).sql
    if _is_positive(node.args["start"]) and (length is None or _is_positive(length)):
        return Typed(f"substring({text}, {start}, {count})", STRING, node)
    return Typed(f"spark_substring({text}, {start}, {count})", STRING, node)


def _is_positive(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) > 0


def _pad(parts: Translator, node: exp.Expr) -> Typed:
    name = "spark_lpad" if node.args.get("is_left") else "spark_rpad"
    text, count = parts.arg(node.this, STRING, node).sql, parts.arg(node.expression, INT, node).sql
    fill = parts.arg(node.args.get("fill_pattern") or exp.Literal.string(" "), STRING, node).sql
    return Typed(f"{name}({text}, {count}, {fill})", STRING, node)


def _trim(parts: Translator, node: exp.Expr) -> Typed:
    names = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    name = names.get(str(node.args.get("position") or "").upper(), "trim")
    text = parts.arg(node.this, STRING, node).sql
    signs = parts.arg(node.expression or exp.Literal.string(" "), STRING, node).sql
    return Typed(f"{name}({text}, {signs})", STRING, node)


def _position(parts: Translator, node: exp.Expr) -> Typed:
    if node.args.get("occurrence") is not None:
        raise NotSupported("", node)
    text = parts.arg(node.this, STRING, node).sql
    part = parts.arg(node.args["substr"], STRING, node).sql
    start = node.args.get("position")
    if start is None:
        return Typed(f"CAST(instr({text}, {part}) AS INT)", INT, node)
    first = parts.arg(start, INT, node).sql
    return Typed(f"CAST(spark_locate({part}, {text}, {first}) AS INT)", INT, node)


def _substring_index(parts: Translator, node: exp.Expr) -> Typed:
    """Spark also counts delimiters that overlap, as "aa" does in "aaa"; DuckDB does not."""
    by = constant_text(node.args["delimiter"], "the delimiter")
    if any(by.startswith(by[k:]) for k in range(1, len(by))):
        raise NotSupported(f"the delimiter `{by}`", node, "choose one that cannot overlap itself")
    text = parts.arg(node.this, STRING, node).sql
    count = parts.arg(node.args["count"], INT, node).sql
    return Typed(f"spark_substring_index({text}, {quoted_text(by)}, {count})", STRING, node)


def _concat(parts: Translator, node: exp.Expr) -> Typed:
    """Texts, or arrays, one after the other; NULL if one is."""
    nodes = node.expressions or [node.this, node.expression]
    found = [parts.of(each) for each in nodes]
    if any(pa.types.is_list(each.type) for each in found):
        values, shared = parts.together(nodes, node)
        lists = " || ".join(value.sql for value in values)
        whole = " OR ".join(f"{value.sql} IS NULL" for value in values)
        return Typed(f"CASE WHEN {whole} THEN NULL ELSE {lists} END", shared, node)
    if all(each.type == BINARY for each in found):
        return Typed(f"({' || '.join(each.sql for each in found)})", BINARY, node)
    texts = [parts.arg(each, STRING, node).sql for each in nodes]
    return Typed(f"({' || '.join(texts)})", STRING, node)


def _concat_ws(parts: Translator, node: exp.Expr) -> Typed:
    first, *others = [parts.arg(each, STRING, node).sql for each in node.expressions]
    if not others:
        return Typed(f"substring({first}, 1, 0)", STRING, node)
    return Typed(f"concat_ws({first}, {', '.join(others)})", STRING, node)


def _replace(parts: Translator, node: exp.Expr) -> Typed:
    by = node.args.get("replacement") or exp.Literal.string("")
    text, part, other = (
        parts.arg(each, STRING, node).sql for each in (node.this, node.expression, by)
    )
    grows = not _is_no_longer(by, node.expression)
    return Typed(f"{'spark_' if grows else ''}replace({text}, {part}, {other})", STRING, node)


def _is_no_longer(one: exp.Expr, other: exp.Expr) -> bool:
    return bool(one.is_string and other.is_string and len(one.name) <= len(other.name))


def _overlay(parts: Translator, node: exp.Expr) -> Typed:
    text, part = (parts.arg(each, STRING, node).sql for each in (node.this, node.expression))
    start = parts.arg(node.args["from_"], INT, node).sql
    count = node.args.get("for_")
    length = f"length({part})" if count is None else parts.arg(count, INT, node).sql
    return Typed(f"spark_overlay({text}, {part}, {start}, {length})", STRING, node)


def _chr(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.arg(node.expressions[0], pa.int64(), node).sql
    return Typed(f"spark_chr({found})", STRING, node)


def _hex(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    if found.type not in (STRING, BINARY):
        found = parts.arg(node.this, pa.int64(), node)
    return Typed(f"hex({found.sql})", STRING, node)


def _of_bytes(template: str) -> Rule:
    """A function of bytes, which takes a text as its bytes in UTF-8."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        return Typed(template.format(parts.arg(node.this, BINARY, node).sql), STRING, node)

    return rule


def _sha2(parts: Translator, node: exp.Expr) -> Typed:
    bits = constant_number(node.args.get("length"), "the number of bits", 256)
    if bits not in (0, 256):
        raise NotSupported(f"SHA2 of {bits} bits", node, "256 bits are supported: SHA2(s, 256)")
    return Typed(f"sha256({parts.arg(node.this, BINARY, node).sql})", STRING, node)


def _reverse(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    if pa.types.is_list(found.type):
        return Typed(f"list_reverse({found.sql})", found.type, node)
    return Typed(f"spark_reverse({parts.arg(node.this, STRING, node).sql})", STRING, node)


def _tested(template: str) -> Rule:
    """Whether a text, or bytes, have a part; a number is no part of a text."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        sides = [parts.of(node.this), parts.of(node.expression)]
        kind = BINARY if all(side.type == BINARY for side in sides) else STRING
        if kind == BINARY or not all(is_free(side.type, STRING) for side in sides):
            raise does_not_take(name_of_node(node), [side.type for side in sides], node)
        return Typed(template.format(*(cast(side, STRING).sql for side in sides)), BOOLEAN, node)

    return rule


def _elt(parts: Translator, node: exp.Expr) -> Typed:
    index = parts.arg(node.this, INT, node).sql
    texts = [parts.arg(each, STRING, node).sql for each in node.expressions]
    branches = " ".join(f"WHEN {k} THEN {text}" for k, text in enumerate(texts, start=1))
    found = f"CASE {index} {branches} ELSE error('ELT has no such argument') END"
    return Typed(f"CASE WHEN {index} IS NOT NULL THEN {found} END", STRING, node)


def _encoded(parts: Translator, node: exp.Expr) -> Typed:
    charset = node.args.get("charset")
    if charset is None or charset.name.lower() not in ("utf-8", "utf8"):
        raise TypeMismatch("only UTF-8 is supported", node, "write 'UTF-8'")
    if isinstance(node, exp.Encode):
        return Typed(f"encode({parts.arg(node.this, STRING, node).sql})", BINARY, node)
    return Typed(f"decode({parts.arg(node.this, BINARY, node).sql})", STRING, node)


def _chosen(parts: Translator, node: exp.Expr) -> Typed:
    """DECODE(value, one, result, ..., otherwise): a CASE in which NULL is equal to NULL."""
    value, *others = node.expressions
    pairs = zip(others[::2], others[1::2], strict=False)
    branches = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=one.copy()), true=result.copy())
        for one, result in pairs
    ]
    last = others[-1].copy() if len(others) % 2 else exp.null()
    return replace(parts.of(exp.Case(ifs=branches, default=last)), node=node)


def _type_name(parts: Translator, node: exp.Expr) -> Typed:
    kind = parts.of(node.this).type
    if pa.types.is_nested(kind) or kind in INTERVALS:
        raise NotSupported("TYPEOF of such a value", node, "DESCRIBE tells the types of columns")
    name = "void" if kind == NULL else name_of(kind).lower().replace(" ", "")
    return Typed(quoted_text({"timestamp": "timestamp_ntz"}.get(name, name)), STRING, node)


# A text is in UTF-8 always.
_SAME = simple("{0}", [STRING], STRING)

NAMED: dict[str, Rule] = {
    "is_valid_utf8": simple("CASE WHEN {0} IS NOT NULL THEN TRUE END", [STRING], BOOLEAN),
    "make_valid_utf8": _SAME,
    "url_encode": simple("spark_url({0})", [STRING], STRING),
    "validate_utf8": _SAME,
    "try_validate_utf8": _SAME,
}

RULES: dict[type[exp.Expr], Rule] = {
    exp.DecodeCase: _chosen,
    exp.Typeof: _type_name,
    exp.Upper: simple("spark_upper({0})", [STRING], STRING),
    exp.Lower: simple("spark_lower({0})", [STRING], STRING),
    exp.Initcap: lambda parts, node: Typed(
        f"spark_initcap({parts.arg(node.this, STRING, node).sql})", STRING, node
    ),
    exp.Length: _length(0),
    exp.BitLength: _length(8),
    exp.Substring: _substring,
    exp.Left: simple("spark_left({0}, {1})", [STRING, INT], STRING),
    exp.Right: simple("spark_right({0}, {1})", [STRING, INT], STRING),
    exp.Pad: _pad,
    exp.Trim: _trim,
    exp.StrPosition: _position,
    exp.SplitPart: simple("spark_split_part({0}, {1}, {2})", [STRING, STRING, INT], STRING),
    exp.SubstringIndex: _substring_index,
    exp.Concat: _concat,
    exp.DPipe: _concat,
    exp.ConcatWs: _concat_ws,
    exp.Replace: _replace,
    exp.Translate: simple("translate({0}, {1}, {2})", [STRING, STRING, STRING], STRING),
    exp.Overlay: _overlay,
    exp.Repeat: simple("spark_repeat({0}, {1})", [STRING, INT], STRING),
    exp.Space: simple("repeat(' ', spark_times({0}, 1))", [INT], STRING),
    exp.Ascii: simple("ascii({0})", [STRING], INT),
    exp.Chr: _chr,
    exp.Hex: _hex,
    exp.Unhex: simple("spark_unhex({0})", [STRING], BINARY),
    exp.ToBase64: _of_bytes("base64({0})"),
    exp.MD5: _of_bytes("md5({0})"),
    exp.SHA: _of_bytes("sha1({0})"),
    exp.SHA2: _sha2,
    exp.Reverse: _reverse,
    exp.StartsWith: _tested("starts_with({0}, {1})"),
    exp.EndsWith: _tested("ends_with({0}, {1})"),
    exp.Contains: _tested("contains({0}, {1})"),
    exp.Elt: _elt,
    exp.Encode: _encoded,
    exp.Decode: _encoded,
}
