"""What a server does, in the text format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidemill import __version__
from tidemill.engine.started import StartedQuery
from tidemill.runtime.progress import Progress
from tidemill.server.service import Service
from tidemill.timeline import OPEN_END, TimeDomain

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
STATES = ("running", "stopped", "failed")


@dataclass(frozen=True)
class Metric:
    """A number with its labels."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in self.labels)
        number = repr(self.value) if isinstance(self.value, float) else str(self.value)
        return f"tidemill_{self.name}{f'{{{labels}}}' if labels else ''} {number}"


_HELP = {
    "info": ("gauge", "The version of the server and where queries run."),
    "uptime_seconds": ("gauge", "Seconds since the server began."),
    "ticks_total": ("counter", "Ticks that were made."),
    "tick_seconds_total": ("counter", "Seconds that ticks took."),
    "tick_failures_total": ("counter", "Ticks that failed as a whole."),
    "pushes_total": ("counter", "Requests that pushed rows."),
    "pushed_rows_total": ("counter", "Rows that were pushed."),
    "source_rows_total": ("counter", "Rows read of a stream or relation."),
    "source_late_rows_total": ("counter", "Rows of a stream that came too late."),
    "source_watermark": ("gauge", "The instant up to which a stream is complete."),
    "query_state": ("gauge", "1 for the state in which a query is."),
    "query_rows_in_total": ("counter", "Rows that the sources of a query brought."),
    "query_rows_out_total": ("counter", "Rows that a query gave."),
    "query_late_rows_total": ("counter", "Rows that came too late for a query."),
    "query_seconds_total": ("counter", "Seconds that the operators of a query took."),
    "query_state_rows": ("gauge", "Rows that the operators of a query keep."),
    "query_state_bytes": ("gauge", "Bytes that the operators of a query keep."),
    "query_complete_until": ("gauge", "The instant up to which an answer is known."),
    "query_lag_seconds": ("gauge", "Seconds between the clock and that instant."),
}


def metrics_text(service: Service) -> str:
    """All metrics, with a line of help before each name.

    >>> print(Metric("query_rows_out_total", 7, (("query", 'a"b'),)))
    tidemill_query_rows_out_total{query="a\\"b"} 7
    """
    with service.lock:
        found = [*_of_server(service), *_of_sources(service), *_of_queries(service)]
    return "\n".join(_lines(found)) + "\n"


def _lines(metrics: Iterable[Metric]) -> Iterator[str]:
    by_name: dict[str, list[Metric]] = {}
    for metric in metrics:
        by_name.setdefault(metric.name, []).append(metric)
    for name, group in by_name.items():
        kind, help = _HELP[name]
        yield f"# HELP tidemill_{name} {help}"
        yield f"# TYPE tidemill_{name} {kind}"
        yield from map(str, group)


def _of_server(service: Service) -> Iterator[Metric]:
    yield Metric("info", 1, (("version", __version__), ("runtime", service.runtime)))
    yield Metric("uptime_seconds", time.time() - service.began)
    yield Metric("ticks_total", service.graph.ticks)
    yield Metric("tick_seconds_total", service.graph.busy_seconds)
    yield Metric("tick_failures_total", service.counts["tick_failures"])
    yield Metric("pushes_total", service.counts["pushes"])
    yield Metric("pushed_rows_total", service.counts["pushed_rows"])


def _of_sources(service: Service) -> Iterator[Metric]:
    for name, read in service.graph.sources.items():
        label = (("source", name),)
        yield Metric("source_rows_total", read.rows, label)
        yield Metric("source_late_rows_total", read.late_rows, label)
        if read.watermark is not None and read.watermark != OPEN_END:
            yield Metric("source_watermark", read.watermark, label)


def _of_queries(service: Service) -> Iterator[Metric]:
    for each in service.engine.listing():
        if each.kind != "query":
            continue
        for state in STATES:
            labels = (("query", each.name), ("state", state))
            yield Metric("query_state", int(each.state == state), labels)
        run = service.run_of(each.name)
        if run is not None:
            yield from _of_run(run, (("query", each.name),))


def _of_run(run: StartedQuery, label: tuple[tuple[str, str], ...]) -> Iterator[Metric]:
    progress = run.progress
    operators = progress.operators
    yield Metric("query_rows_in_total", progress.rows_in, label)
    yield Metric("query_rows_out_total", progress.rows_out, label)
    yield Metric("query_late_rows_total", progress.late_rows, label)
    yield Metric("query_seconds_total", sum(each.seconds for each in operators), label)
    yield Metric("query_state_rows", sum(each.state_rows for each in operators), label)
    yield Metric("query_state_bytes", sum(each.state_bytes for each in operators), label)
    reached = complete_until(progress)
    if reached is None:
        return
    yield Metric("query_complete_until", reached, label)
    if run.definition.planned.domain is TimeDomain.MICROSECONDS:
        yield Metric("query_lag_seconds", max(0.0, time.time() - reached / 1e6), label)


def complete_until(progress: Progress) -> int | None:
    """How far the slowest source of a query has come; None before it has begun, or at the end."""
    reached = [source.watermark for source in progress.sources.values()]
    known = [each for each in reached if each is not None and each != OPEN_END]
    return min(known, default=None)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
