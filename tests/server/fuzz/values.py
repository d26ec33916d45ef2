"""Values that nobody expects."""

from __future__ import annotations

from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    -1,
    0,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**400,
    -0.0,
    1.5,
    1e308,
    5e-324,
)
RAW = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-", b"0x10", b"01", b"1_000", b"9" * 5000)
"""Numbers that JSON does not have, and one that is longer than any."""

TEXTS = (
    "",
    " ",
    "\0",
    "bid\0",
    "'",
    '"',
    "`",
    "``",
    "a`b",
    ";",
    "--",
    "/*",
    "\\",
    "%",
    "../../etc/passwd",
    "…",
    "名前",
    "é",
    "\u202e",
    "\U0001f9ea",
    "İ",
    "ß",
    "x" * 300,
    "x" * 70_000,
    "a\r\nset-cookie: b=c",
    "SELECT",
    "bid; DROP STREAM bid",
    "NaN",
    "2024-02-30T25:61:00",
    "9" * 5000,
)
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"a": {"a": {}}}, [1, "a"])


def value(random: Random) -> Any:
    """A value of JSON."""
    kind = random.choice((NUMBERS, TEXTS, TEXTS, OTHERS))
    return random.choice(kind)


def deep(random: Random) -> bytes:
    """A text of JSON that is nested as deeply as nobody needs."""
    depth = random.choice((100, 1000, 5000, 100_000))
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'{"rows":[', b"]}")))
    return opening * depth + (b"1" + closing * depth if random.random() < 0.7 else b"")
