"""Which addresses are this machine's own."""

from __future__ import annotations

import re
from ipaddress import ip_address

_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@\s]+)(?::[0-9]{1,5})?")


def is_loopback_place(place: str) -> bool:
    """Whether a name or address, perhaps with a port, is that of this machine, and nothing else.

    >>> [is_loopback_place(each) for each in ("localhost:8321", "[::1]:8321", "127.0.0.1")]
    [True, True, True]
    >>> [is_loopback_place(each) for each in ("[::1].a.example", "a@127.0.0.1", "::1", "")]
    [False, False, False, False]
    """
    found = _PLACE.fullmatch(place)
    return found is not None and is_loopback(found[1])


def is_loopback(host: str) -> bool:
    """Whether a name or an address is that of this machine, for itself only.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.9", "::1", "10.0.0.1", "a.example")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
