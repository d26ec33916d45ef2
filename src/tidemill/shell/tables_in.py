"""Which sources a statement names, and under which aliases, however unfinished it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidemill.shell.backend import Named
from tidemill.shell.words import KEYWORDS

_TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'|\w+|`[^`]*`|[^\s\w]", re.DOTALL)
_PAIRS = {"(": ")", "[": "]"}


def aliases(text: str, sources: Sequence[Named]) -> dict[str, Named]:
    """By alias or name, the sources that a text speaks of.

    >>> bid = Named("bid", "stream")
    >>> sorted(aliases("SELECT FROM bid WINDOW(RANGE 5) AS b JOIN Bid x", [bid]))
    ['b', 'bid', 'x']
    """
    known = {source.name.casefold(): source for source in sources}
    tokens = [token.strip("`") for token in _TOKEN.findall(text) if token[:2] not in ("--", "/*")]
    found: dict[str, Named] = {}
    for place, token in enumerate(tokens):
        source = known.get(token.casefold())
        if source is None or (place and tokens[place - 1] == "."):
            continue
        found[source.name.casefold()] = source
        alias = _alias(tokens, place + 1)
        if alias is not None:
            found[alias.casefold()] = source
    return found


def _alias(tokens: list[str], place: int) -> str | None:
    """The name after a source, and perhaps after its window."""
    place = _behind_window(tokens, place)
    if place < len(tokens) and tokens[place].upper() == "AS":
        place += 1
    if place < len(tokens) and re.fullmatch(r"[A-Za-z_]\w*", tokens[place]):
        return None if tokens[place].upper() in KEYWORDS else tokens[place]
    return None


def _behind_window(tokens: list[str], place: int) -> int:
    if place < len(tokens) and tokens[place].upper() == "WINDOW":
        place += 1
    closing = _PAIRS.get(tokens[place]) if place < len(tokens) else None
    if closing is None:
        return place
    while place < len(tokens) and tokens[place] != closing:
        place += 1
    return place + 1
