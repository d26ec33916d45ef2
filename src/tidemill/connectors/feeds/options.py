"""Which options of files are understood here, exactly as Spark means them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidemill.connectors.feeds.slices import OptionValue

FORMATS = ("arrow", "csv", "json", "orc", "parquet")
"""The formats that are read here."""

_ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "iso-8859-1": "latin-1", "us-ascii": "ascii"}
_SEPARATORS = {"\\t": "\t"}

Check = Callable[[str], bool]


def _anything(value: str) -> bool:
    return True


def _is_boolean(value: str) -> bool:
    return value.lower() in ("true", "false")


def _is_false(value: str) -> bool:
    return value.lower() == "false"


def _one_of(*values: str) -> Check:
    return lambda value: value.casefold() in values


def _is_number(value: str) -> bool:
    return value.isdecimal() and int(value) > 0


def _is_separator(value: str) -> bool:
    value = _SEPARATORS.get(value, value)
    return bool(value) and not set(value) & set("\\\r\n\0")


def _is_character(value: str) -> bool:
    return len(value) == 1 and value.isascii() and value not in "\r\n\0"


_LISTING: dict[str, Check] = {
    "path": _anything,
    "maxfilespertrigger": _is_number,
    "maxbytespertrigger": _is_number,
    "pathglobfilter": _anything,
    "recursivefilelookup": _is_boolean,  # folders in folders are looked into in any case
}

# What is not as in this table, Spark reads by itself.
_KNOWN: dict[str, dict[str, Check]] = {
    "arrow": {},
    "parquet": {
        "mergeschema": _is_boolean,  # the declared columns count in any case
        "datetimerebasemode": _one_of("corrected"),
        "int96rebasemode": _one_of("corrected"),
    },
    "orc": {"mergeschema": _is_boolean},
    "json": {
        "mode": _one_of("failfast"),
        "encoding": _one_of("utf-8", "utf8"),
        "charset": _one_of("utf-8", "utf8"),
        "multiline": _is_false,
    },
    "csv": {
        "mode": _one_of("failfast"),
        "header": _is_boolean,
        "enforceschema": _is_false,
        "inferschema": _is_boolean,  # there is a schema
        "sep": _is_separator,
        "delimiter": _is_separator,
        "quote": lambda value: not value or _is_character(value),
        "escape": _is_character,
        "nullvalue": _anything,
        "emptyvalue": _anything,
        "comment": _is_character,
        "encoding": _one_of(*_ENCODINGS),
        "charset": _one_of(*_ENCODINGS),
        "multiline": _is_boolean,
        "ignoreleadingwhitespace": _is_false,
        "ignoretrailingwhitespace": _is_false,
        "locale": _one_of("en-us"),
    },
}


def texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as Spark sees them: the case of names does not count, and values are texts.

    >>> texts({"maxFilesPerTrigger": 1, "header": False, "comment": None})
    {'maxfilespertrigger': '1', 'header': 'false'}
    """
    given = {name.lower(): value for name, value in options.items() if value is not None}
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in given.items()
    }


def refusal(format: str, options: Mapping[str, OptionValue]) -> str | None:
    """Why files are not read here as Spark would read them, if so.

    >>> refusal("csv", {"path": "bids/", "timestampFormat": "dd.MM.yyyy"})
    'the option timestampFormat of csv is not known here'
    >>> refusal("csv", {"path": "bids/", "sep": ";"}) is None
    True
    """
    if (known := _KNOWN.get(format.lower())) is None:
        return f"the format {format} is not read here, but {', '.join(FORMATS)}"
    checks = _LISTING | known
    names = {name.lower(): name for name in options}
    for name, value in texts(options).items():
        if name not in checks:
            return f"the option {names[name]} of {format} is not known here"
        if not checks[name](value):
            return f"the option {names[name]} of {format} cannot be {value!r} here"
    return None


def understands(format: str, options: Mapping[str, OptionValue]) -> bool:
    """Whether files with these options mean here what they mean to Spark.

    >>> understands("parquet", {"path": "bids/"}), understands("avro", {"path": "bids/"})
    (True, False)
    """
    return refusal(format, options) is None


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written. Without `escape`, quotes in quotes are doubled."""

    header: bool
    separator: str
    quote: str
    escape: str
    null: str
    empty: str
    comment: str
    encoding: str
    multi_line: bool


def dialect(options: Mapping[str, OptionValue]) -> Dialect:
    """How a CSV file is written, by its options; names of columns come first unless told.

    >>> dialect({"delimiter": ";"}).separator, dialect({}).header
    (';', True)
    """
    given = texts(options)
    separator = given.get("sep", given.get("delimiter", ","))
    quote, escape = given.get("quote", '"'), given.get("escape", "\\")
    return Dialect(
        header=given.get("header", "true").lower() == "true",
        separator=_SEPARATORS.get(separator, separator),
        quote=quote,
        escape="" if escape == quote else escape,
        null=given.get("nullvalue", ""),
        empty=given.get("emptyvalue", ""),
        comment=given.get("comment", ""),
        encoding=_ENCODINGS[given.get("encoding", given.get("charset", "utf-8")).lower()],
        multi_line=given.get("multiline", "false").lower() == "true",
    )
