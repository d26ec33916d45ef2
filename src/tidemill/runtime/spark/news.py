"""What operators tell those of other partitions: by way of the driver, from tick to tick.

It travels as text, for the reports of tasks and the files of state are JSON.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

News = dict[str, dict[str, str]]
"""What the operators of a stage have told: by number of the operator, then by partition."""


def news_of(told: Mapping[int, bytes]) -> dict[str, str]:
    """What the operators of a partition tell, as text.

    >>> news_of({3: b"new"})
    {'3': 'bmV3'}
    """
    return {str(number): b64encode(data).decode() for number, data in told.items()}


def gathered(reports: Iterable[Mapping[str, Any]], level: int) -> News:
    """What all partitions of a stage have told in a tick.

    >>> reports = [{"level": 1, "partition": p, "told": {"3": "bmV3"}} for p in range(2)]
    >>> gathered(reports, level=1)
    {'3': {'0': 'bmV3', '1': 'bmV3'}}
    """
    news: News = {}
    for report in reports:
        if report["level"] == level:
            for number, text in report.get("told", {}).items():
                news.setdefault(number, {})[str(report["partition"])] = text
    return news


def heard(news: News) -> dict[int, dict[int, bytes]]:
    """What operators hear.

    >>> heard({"3": {"0": "bmV3"}})
    {3: {0: b'new'}}
    """
    return {
        int(number): {int(partition): b64decode(text) for partition, text in told.items()}
        for number, told in news.items()
    }
