"""The answer of a query in the forms that people work with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from tidemill.errors import TidemillError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from tidemill.notebook.charts import Chart


class Collectable(ABC):
    """What can be collected as a table of Arrow."""

    @abstractmethod
    def collect(self, coalesce: bool = False) -> pa.Table:
        """All rows of the result with the time in which they hold."""

    @abstractmethod
    def _session(self) -> SparkSession:
        """The Spark session of the engine."""

    def head(self, n: int = 5, coalesce: bool = False) -> pa.Table:
        """The first `n` rows of what `collect` gives.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": 1, "at": 3}, {"item": 2, "at": 5}], time="at")
        >>> engine.sql("SELECT item FROM bid").head(1).to_pylist()
        [{'item': 1, 'valid_from': 3, 'valid_to': 4}]
        """
        if n < 0:
            raise TidemillError(f"there are no first {n} rows", help="head(n) takes n >= 0")
        return self.collect(coalesce).slice(0, n)

    def to_polars(self, coalesce: bool = False) -> pl.DataFrame:
        """What `collect` gives, as a DataFrame of Polars."""
        return pl.DataFrame(self.collect(coalesce))

    def to_pandas(self, coalesce: bool = False) -> pd.DataFrame:
        """What `collect` gives, as a DataFrame of pandas; integers stay integers."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            help = "pip install pandas; or use to_polars() or collect()"
            raise TidemillError("to_pandas() needs the package pandas", help=help) from None
        table = self.collect(coalesce)
        frame = table.to_pandas()
        # A column of integers with NULLs would become one of floats, which are not exact.
        for field in table.schema:
            if pa.types.is_integer(field.type) and table.column(field.name).null_count:
                values = table.column(field.name).to_pylist()
                frame[field.name] = pd.array(values, dtype="Int64")
        return frame

    def to_spark(self, coalesce: bool = False) -> DataFrame:
        """What `collect` gives, as a DataFrame of the engine's Spark session.

        Its rows pass through this process; a sink lets tasks write large answers where they are.
        """
        session = self._session()
        from tidemill.runtime.spark.types import columns_ddl

        table = self.collect(coalesce)
        return session.createDataFrame(table, columns_ddl(table.schema))

    def plot(
        self, column: str | None = None, by: str | Sequence[str] | None = None, top: int = 8
    ) -> Chart:
        """A numeric column over time, as a chart: steps from `valid_from` to `valid_to`.

        There is a line for each key, which is the values of the columns `by`; those with the most
        rows are drawn, at most `top`. Without names, the last column of numbers is drawn, rather
        one with fractions, by the columns that are no numbers, or by the first one. Without any
        numbers, each key has a lane that shows when its rows hold.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": "lamp", "price": 30, "at": 3}], time="at")
        >>> engine.sql("SELECT item, price FROM bid WINDOW(RANGE 4)").plot().svg[:4]
        '<svg'
        """
        from tidemill.notebook.charts import step_chart

        return step_chart(self.collect(coalesce=True), column, by, top)
