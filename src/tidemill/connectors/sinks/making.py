"""From what users ask for to the sinks that do it."""

from __future__ import annotations

from collections.abc import Callable

from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks.console import ConsoleSink
from tidemill.connectors.sinks.forms import FormShape
from tidemill.connectors.sinks.function import FunctionSink
from tidemill.connectors.sinks.kafka import TopicSink
from tidemill.connectors.sinks.memory import MemorySink
from tidemill.connectors.sinks.noop import NoopSink
from tidemill.connectors.sinks.postgres import DatabaseSink
from tidemill.connectors.sinks.requests import SinkRequest, TableSink
from tidemill.connectors.sinks.sink import SparkWrite
from tidemill.connectors.sinks.writable import FILES, SINKS, Sink, Writable, file_sink, spark_sink
from tidemill.errors import nearest
from tidemill.store import Durability
from tidemill.timeline import TimeDomain


def make_sink(
    request: SinkRequest,
    schema: Schema,
    domain: TimeDomain | None,
    identity: Callable[[], str],
    spark_formats: bool,
    local_paths: bool = True,
    durability: Durability = "process",
) -> Sink:
    """The sink that a user asked for; `schema` are the columns of the result.

    `identity` names the writer to databases: a query together with its checkpoint.
    For the rest see `Writable`.
    """
    shape = FormShape(request.form, schema, domain, request.order)
    place = Writable(spark_formats, local_paths, durability)
    match request.target:
        case "memory":
            return MemorySink(shape, request.options)
        case "console":
            return ConsoleSink(shape)
        case "noop":
            return NoopSink(shape)
        case "postgres":
            return DatabaseSink(shape, request.options, identity())
        case "kafka":
            return TopicSink(shape, request.options, identity())
        case str() as format if format in FILES:
            return file_sink(format, shape, dict(request.options), place)
        case str() as format:
            return spark_sink(SparkWrite(format, shape, request.options), place, _guess(format))
        case TableSink() as sink:
            return sink
        case call:
            return FunctionSink(shape, call)


def _guess(format: str) -> str:
    near = nearest(format, SINKS)
    return f"did you mean {near}?" if near else "it is none of the sinks that need no Spark"
