"""The Python workers of Spark, and functions that are called in them.

Spark keeps workers apart that were started with other environment variables. So the functions of a
partition get a variable of their own, and with it a process of their own, which still has in
memory what the tick before has left there. On a cluster, they prefer one and the same executor.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import cloudpickle
from pyspark import SparkContext
from pyspark.core.rdd import RDD
from pyspark.serializers import NoOpSerializer

_VARIABLE = "TIDEMILL_WORKER"
_ENVIRONMENT = {
    # Within a task, operators use one thread: parallelism comes from partitions.
    "POLARS_MAX_THREADS": "1",
    # Arrays of some megabytes come and go with every step. Left to itself, the C library gives
    # their pages back to the system each time, only to be given new ones, filled with zeros.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    # The frames of a tick are gone with it. Half a second later, Polars would give their pages
    # back, only to be given new ones for the next tick, filled with zeros.
    "_RJEM_MALLOC_CONF": "background_thread:true,dirty_decay_ms:10000,muzzy_decay_ms:-1",
}

_DESCRIPTION = "spark.job.description"

Function = Callable[[], bytes]


class Workers:
    """Calls functions on Spark, one job for all of them; the same number means the same process.

    Two that call at the same time would get each other's processes: every one has a *lane* of its
    own while it calls, and takes the same one again if it can.
    """

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._lane = 0

    def call(self, functions: Sequence[Function], title: str) -> list[bytes]:
        """What the functions give, in their order."""
        with _lanes(self._context).taken(self._lane) as lane, self._titled(title):
            self._lane = lane.number
            return self._call(lane, functions)

    def _call(self, lane: _Lane, functions: Sequence[Function]) -> list[bytes]:
        places = _executors(self._context)
        parts = []
        for number, function in enumerate(functions):
            place = places[number % len(places)] if places else None
            java = self._function(function, f"{lane.number}/{number}")
            empty = lane.partition(place)
            parts.append(self._jvm.PythonRDD(empty, java, False, False).asJavaRDD())
        found: list[bytes] = RDD(self._together(parts), self._context, NoOpSerializer()).collect()
        return found

    def wake(self, count: int) -> None:
        """Let workers start and import what ticks need; whoever calls meanwhile waits for it."""
        with _lanes(self._context).waking:
            self._call(_Lane(self._context, 0), [_wake] * count)

    @property
    def _jvm(self) -> Any:
        return self._context._jvm

    def _function(self, function: Function, worker: str) -> Any:
        nothing = NoOpSerializer()
        command = cloudpickle.dumps((_Called(function), None, nothing, nothing))
        context = self._context
        environment = {**_ENVIRONMENT, **context.environment, _VARIABLE: worker}
        return self._jvm.SimplePythonFunction(
            bytearray(command),
            environment,
            context._python_includes,
            context.pythonExec,
            context.pythonVer,
            [],
            context._javaAccumulator,
        )

    def _together(self, parts: Sequence[Any]) -> Any:
        gateway: Any = self._context._gateway
        array = gateway.new_array(self._jvm.org.apache.spark.api.java.JavaRDD, len(parts))
        for number, part in enumerate(parts):
            array[number] = part
        return self._context._jsc.union(array)

    @contextmanager
    def _titled(self, title: str) -> Iterator[None]:
        """Jobs have a name in Spark's pages; afterwards, those of the user have theirs."""
        context: Any = self._context
        before = context.getLocalProperty(_DESCRIPTION)
        context.setLocalProperty(_DESCRIPTION, title)
        try:
            yield
        finally:
            context.setLocalProperty(_DESCRIPTION, before)


def _wake() -> bytes:
    return b""


class _Called:
    """A function, as a worker of Spark calls it for a partition that has no elements."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __call__(self, split: int, elements: Iterable[bytes]) -> Iterator[bytes]:
        _settle()
        for _ in elements:
            pass
        yield self._function()


@cache
def _settle() -> None:
    """Import what tasks need, and count it as there for good.

    After every task, workers look through all their objects for garbage. The modules alone are so
    many that this took ten times as long as a short task.
    """
    importlib.import_module("tidemill.runtime.stage_task")
    gc.collect()
    gc.freeze()


class _Lane:
    """Its holder has its processes; the inputs of its jobs are always the same."""

    def __init__(self, context: SparkContext, number: int) -> None:
        self.number = number
        self._context = context
        self._partitions: dict[str | None, Any] = {}

    def partition(self, place: str | None) -> Any:
        """One empty partition that is best computed at a place."""
        if place not in self._partitions:
            self._partitions[place] = self._made(place)
        return self._partitions[place]

    def _made(self, place: str | None) -> Any:
        jvm: Any = self._context._jvm
        nothing = bytearray()
        if place is None:
            return self._context._jsc.parallelize([nothing], 1).rdd()
        utils = jvm.org.apache.spark.api.python.PythonUtils
        pair = jvm.scala.Tuple2(nothing, utils.toSeq([place]))
        tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
        return self._context._jsc.sc().makeRDD(utils.toSeq([pair]), tag)


class _Lanes:
    """All lanes of a context; there are as many as were ever needed at once."""

    def __init__(self, context: SparkContext) -> None:
        self.context = context
        self.waking = Lock()
        self._lock = Lock()
        self._free: dict[int, _Lane] = {}
        self._made = 0

    @contextmanager
    def taken(self, wanted: int) -> Iterator[_Lane]:
        """A free lane: the wanted one, or else the first."""
        with self.waking, self._lock:
            if not self._free:
                self._free[self._made] = _Lane(self.context, self._made)
                self._made += 1
            lane = self._free.pop(wanted if wanted in self._free else min(self._free))
        try:
            yield lane
        finally:
            with self._lock:
                self._free[lane.number] = lane


_lock = Lock()
_known: _Lanes | None = None


def _lanes(context: SparkContext) -> _Lanes:
    """Those of a context; there is one of these in a process at a time."""
    global _known
    with _lock:
        if _known is None or _known.context is not context:
            _known = _Lanes(context)
        return _known


def _executors(context: SparkContext) -> list[str]:
    """The executors of a cluster, as places of partitions; on one machine, none."""
    if str(context.master).startswith("local["):
        return []
    known = context._jsc.sc().statusStore().executorList(True)
    found = (known.apply(number) for number in range(known.size()))
    pairs = {(str(each.id()), str(each.hostPort()).rpartition(":")[0]) for each in found}
    return [f"executor_{host}_{name}" for name, host in sorted(pairs) if name != "driver"]
