"""The functions that expressions may call, by their names in Spark.

For each there are expressions in tests/expressions/table.sql to which Spark gives the same answers.
"""

from __future__ import annotations

from typing import Final

FUNCTIONS: Final[dict[str, tuple[str, ...]]] = {
    "conditions": (
        "if", "coalesce", "nvl", "nvl2", "ifnull", "nullif", "greatest", "least", "equal_null",
        "isnan", "nanvl", "isnull", "isnotnull", "nullifzero", "zeroifnull",
    ),
    "types": (
        "cast", "try_cast", "boolean", "tinyint", "smallint", "int", "bigint", "float",
        "double", "string", "date", "timestamp", "decimal", "binary", "typeof",
    ),
    "numbers": (
        "abs", "sign", "signum", "negative", "round", "floor", "ceil", "ceiling", "rint", "mod",
        "div", "pow", "power", "sqrt", "cbrt", "exp", "ln", "log", "log2", "log10", "pi", "sin",
        "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "degrees",
        "radians", "try_add", "try_subtract", "try_multiply", "try_divide", "shiftleft",
        "shiftright", "bit_count", "pmod", "try_mod", "e", "cot", "csc", "sec", "bin", "factorial",
        "acosh", "asinh", "atanh", "expm1", "log1p", "hypot", "positive", "width_bucket",
        "bitmap_bit_position", "bitmap_bucket_number", "getbit", "bit_get",
    ),
    "texts": (
        "length", "len", "char_length", "character_length", "bit_length", "upper", "ucase",
        "lower", "lcase", "initcap", "substring", "substr", "substring_index", "left", "right",
        "lpad", "rpad", "trim", "ltrim", "rtrim", "instr", "locate", "position", "contains",
        "startswith", "endswith", "concat", "concat_ws", "replace", "translate", "overlay",
        "repeat", "space", "reverse", "split_part", "elt", "ascii", "chr", "char", "hex", "unhex",
        "base64", "encode", "md5", "sha", "sha1", "sha2", "btrim",
        "octet_length", "find_in_set", "like", "ilike", "decode", "is_valid_utf8",
        "make_valid_utf8", "validate_utf8", "try_validate_utf8", "url_encode",
    ),
    "patterns": (
        "regexp_like", "regexp_replace", "regexp_extract", "regexp_extract_all", "regexp_count",
        "split", "rlike", "regexp", "regexp_substr",
    ),
    "dates and times": (
        "year", "quarter", "month", "weekofyear", "day", "dayofmonth", "dayofweek", "dayofyear",
        "hour", "minute", "second", "extract", "monthname", "dayname", "last_day", "next_day",
        "date_add", "date_sub", "dateadd", "add_months", "datediff", "date_diff",
        "months_between", "timestampadd", "timestampdiff", "date_trunc", "trunc", "date_format",
        "to_date", "to_timestamp", "make_timestamp", "from_unixtime", "unix_timestamp",
        "to_unix_timestamp", "unix_seconds", "unix_millis", "unix_micros", "unix_date",
        "date_from_unix_date", "weekday", "make_date", "make_timestamp_ntz", "timestamp_seconds",
        "timestamp_millis", "timestamp_micros", "to_timestamp_ntz", "try_to_timestamp",
        "try_to_date", "date_part", "datepart",
    ),
    "arrays, maps and structs": (
        "array", "element_at", "try_element_at", "size", "array_size", "array_contains",
        "array_position", "array_append", "array_prepend", "array_remove", "array_compact",
        "array_min", "array_max", "array_sort", "sort_array", "array_join", "slice", "flatten",
        "map", "map_from_arrays", "map_keys", "map_contains_key", "struct", "named_struct",
        "map_values", "cardinality", "get", "array_distinct", "array_union", "array_intersect",
        "array_except", "arrays_overlap", "array_repeat", "sequence", "map_entries", "transform",
        "filter", "exists", "forall", "aggregate", "reduce", "zip_with", "map_filter",
        "transform_values", "map_from_entries",
    ),
}  # fmt: skip
"""Names of functions by what they are about."""

NAMES: Final = frozenset(name for names in FUNCTIONS.values() for name in names)
