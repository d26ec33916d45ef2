"""Malformed requests and statements for servers."""

from __future__ import annotations

from tests.attack.tally import Tally
from tests.server.fuzz.campaign import BATCH, campaign


def requests(tally: Tally, share: float, seed: int) -> None:
    """Every answer is one that belongs to the request; what is refused is told."""
    for number in range(0, max(BATCH, round(100_000 * share)), BATCH):
        found = campaign(seed * 10**9 + number, BATCH)
        tally.wrong += found.wrong
        told = sum(count for status, count in found.statuses.items() if status >= 400)
        tally.note(told=True, times=told)
        tally.note(times=max(0, found.statuses.total() - told - len(found.wrong)))
