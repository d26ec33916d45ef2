"""Heartbeats: how far time has come in a source that brings no rows.

They are files that Spark reads as one more stream, so that a heartbeat makes a tick by itself, and
a tick that is done again sees the same heartbeats.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.inputs import SOURCE
from tidemill.timeline import VALID_FROM

_FOLDER = "heartbeats"


class Heartbeats:
    """The heartbeats of one query, kept with its checkpoint."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def read(self, session: SparkSession) -> DataFrame:
        """A stream of sources, by number, and instants that they have reached."""
        self._checkpoint.make(_FOLDER)
        reader = session.readStream.schema(f"{SOURCE} INT, {VALID_FROM} BIGINT")
        # What Spark has taken note of is not needed any more.
        return reader.option("cleanSource", "delete").json(f"{self._checkpoint.uri}/{_FOLDER}")

    def send(self, instants: Mapping[int, int | None]) -> None:
        """Let sources, by number, reach an instant."""
        lines = [json.dumps({SOURCE: n, VALID_FROM: at}) for n, at in instants.items()]
        self._checkpoint.write(f"{_FOLDER}/{uuid.uuid4().hex}.json", "\n".join(lines))

    def wake(self) -> None:
        """Make another tick, even if nothing comes: a heartbeat that tells nothing new."""
        self.send({0: None})
