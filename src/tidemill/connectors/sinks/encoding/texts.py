"""Times as texts: ISO 8601 without a zone, to the microsecond."""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

_TIMESTAMP = "%Y-%m-%dT%H:%M:%S%.6f"


def with_texts_of_time(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts for its timestamps and dates.

    >>> at = pl.Series([1_500_000]).cast(pl.Datetime("us"))
    >>> with_texts_of_time(pl.DataFrame({"at": at, "day": at.dt.date()})).row(0)
    ('1970-01-01T00:00:01.500000', '1970-01-01')
    """
    return frame.with_columns(
        cs.datetime().dt.strftime(_TIMESTAMP), cs.date().dt.strftime("%Y-%m-%d")
    )
