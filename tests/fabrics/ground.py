"""Where a test runs: in this process, with tasks and parcels as they are elsewhere, or on Spark.

A test that takes the fixture `fabric` runs on both: in process always, on Spark with
`make test-long`. Those marked `everywhere` run on Spark with `make test`, too; `seeds` says so for
cases of a test, one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import tidemill as tm
from tests.fabrics.simulated import Elsewhere
from tidemill.runtime.fabric import Fabric

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_PROCESS = "inprocess"
SPARK = pytest.param("spark", marks=pytest.mark.spark)
SPARK_LONG = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])

everywhere = pytest.mark.parametrize("fabric", [IN_PROCESS, SPARK], indirect=True)
"""On Spark with `make test`, too."""

in_process = pytest.mark.parametrize("fabric", [IN_PROCESS], indirect=True)
"""Not on Spark at all."""


def seeds(
    every: Iterable[Any], spark: Collection[Any] = (), long: Collection[Any] = ()
) -> pytest.MarkDecorator:
    """Cases of a test by `seed`: all in process, some on Spark, and some there only if it is long.

    >>> [case.id for case in seeds([1, 2], spark=[2]).args[1]]
    ['inprocess-1', 'inprocess-2', 'spark-2']
    """
    slow = [pytest.mark.spark, pytest.mark.slow]
    cases = [_case(IN_PROCESS, seed) for seed in every]
    cases += [_case("spark", seed, pytest.mark.spark) for seed in spark]
    cases += [_case("spark", seed, *slow) for seed in long if seed not in spark]
    return pytest.mark.parametrize(("fabric", "seed"), cases, indirect=["fabric"])


def _case(fabric: str, seed: Any, *marks: pytest.MarkDecorator) -> Any:
    name = "-".join(map(str, seed)) if isinstance(seed, tuple) else str(seed)
    return pytest.param(fabric, seed, marks=marks, id=f"{fabric}-{name}")


@dataclass(frozen=True)
class Ground:
    """A kind of fabric; Spark has a session."""

    session: SparkSession | None = None

    @property
    def on_spark(self) -> bool:
        return self.session is not None

    def engine(self, partitions: int = 2, **options: Any) -> tm.Engine:
        """An engine that runs here."""
        if self.session is None:
            return tm.Engine("inprocess", partitions=partitions, **options)
        return tm.Engine(spark=self.session, partitions=partitions, **options)

    def make(self, partitions: int) -> Fabric:
        """A fabric for a run that has a store."""
        if self.session is None:
            return Elsewhere(partitions)
        from tidemill.runtime.spark.fabric import SparkFabric

        return SparkFabric(self.session, partitions)
