"""Snapshots as files: each in a folder of its own; only the newest stays.

A folder is written under a name that no whole one has, and has its file `_SUCCESS` once it is
whole; only then are the others removed. So there is a whole one at every moment, and nothing is
ever added to it. A tick that is done again after a crash leaves the same rows.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

_PREFIX = "snapshot="


class SnapshotFolder:
    """A folder of snapshots, wherever Spark can write."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self._path = path
        # Spark's own way to files, so that a path means the same here as in its writer.
        self._paths: Any = session._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        settings = session._jsc.hadoopConfiguration()
        self._files = self._paths.Path(path).getFileSystem(settings)

    def replace(self, rows: DataFrame, tick: int, format: str, options: dict[str, Any]) -> None:
        """Write the snapshot of a tick, and remove the ones before."""
        name = self._free_name(tick)
        rows.write.format(format).options(**options).mode("overwrite").save(self._at(name))
        for status in self._files.listStatus(self._paths.Path(self._path)):
            other = status.getPath().getName()
            if other.startswith(_PREFIX) and other != name:
                self._files.delete(status.getPath(), True)

    def _free_name(self, tick: int) -> str:
        """Two spellings of one number: a whole snapshot must stay until the next one is whole."""
        usual, other = f"{_PREFIX}{tick:08d}", f"{_PREFIX}{tick:09d}"
        whole = self._files.exists(self._paths.Path(self._at(usual), "_SUCCESS"))
        return other if whole else usual

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"
