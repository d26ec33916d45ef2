"""Guesses at the token: after some wrong ones, an address has to wait."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

_MINUTE = 60.0
_MOST_KNOWN = 10_000


class Guesses:
    """Wrong tokens of the last minute, by where they came from.

    >>> guesses = Guesses(most=2, clock=lambda: 0.0)
    >>> guesses.wrong("10.0.0.1"), guesses.wrong("10.0.0.1")
    (None, None)
    >>> guesses.is_too_many("10.0.0.1"), guesses.is_too_many("10.0.0.2")
    (True, False)
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._known: OrderedDict[str, deque[float]] = OrderedDict()

    def is_too_many(self, address: str) -> bool:
        """Whether an address has to wait, whatever it shows: else it could go on guessing."""
        times = self._known.get(_network(address))
        if times is None:
            return False
        while times and times[0] <= self._clock() - _MINUTE:
            times.popleft()
        return len(times) >= self._most

    def wrong(self, address: str) -> None:
        """Take note of a wrong token."""
        network = _network(address)
        times = self._known.setdefault(network, deque(maxlen=self._most))
        times.append(self._clock())
        self._known.move_to_end(network)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


def _network(address: str) -> str:
    """A client with one address of IPv6 has very many.

    >>> _network("2001:db8::17"), _network("10.0.0.1")
    ('2001:db8::', '10.0.0.1')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Address(int(found) >> 64 << 64))
    return str(found)
