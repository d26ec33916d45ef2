"""Amounts of memory, as people write and read them."""

from __future__ import annotations

import re

from tidemill.errors import TidemillError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*\Z")


def parse_bytes(amount: int | str) -> int:
    """A number of bytes, given with or without unit.

    >>> parse_bytes("2GB"), parse_bytes("1.5 MiB"), parse_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    found = _AMOUNT.match(str(amount))
    if found is None or found[2].upper() not in _UNITS or float(found[1]) <= 0:
        raise TidemillError(
            f"`{amount}` is not an amount of memory",
            help='for example "2GB", "512 MB" or "1.5 GiB"',
        )
    return round(float(found[1]) * _UNITS[found[2].upper()])


def shown_bytes(number: float) -> str:
    """
    >>> shown_bytes(512), shown_bytes(20_400), shown_bytes(3_456_000_000)
    ('512 B', '20.4 kB', '3.46 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"
