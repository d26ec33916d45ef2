"""Running graphs and started queries as HTML: state, rows, watermarks and late rows, as of now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from tidemill.errors import masked
from tidemill.notebook.html import code, folded, framed, heading, note, texts
from tidemill.notebook.instants import instant_or_end
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.timeline import TimeDomain

Domain = Callable[[str], TimeDomain | None]
"""What the time of a source counts, by the name of the source."""


class ShownRun(Protocol):
    """What is shown of a query that was started."""

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def complete_from(self) -> int: ...

    @property
    def progress(self) -> Progress: ...

    def exception(self) -> Exception | None: ...

    def explain(self) -> str: ...


def run_html(run: ShownRun, domain: TimeDomain | None, domains: Domain) -> str:
    """A query that was started: how far it has come, what it has read, and the plan that runs."""
    progress = run.progress
    return framed(
        heading(run.name, f"{run.state}, {_ticks(progress.ticks)}"),
        texts([_query(run, progress, domain)], ("rows", "late")),
        _sources(progress.sources, domains),
        _error(run),
        folded("plan", code(run.explain())),
    )


def graph_html(
    state: str,
    ticks: int,
    runs: Iterable[tuple[ShownRun, TimeDomain | None]],
    sources: Mapping[str, SourceProgress],
    domains: Domain,
) -> str:
    """A running graph: its queries and what they have read."""
    found = list(runs)
    rows = [_query(run, run.progress, domain) for run, domain in found]
    empty = note("no queries yet: query.start(...) adds one")
    return framed(
        heading("Graph", f"{state}, {_ticks(ticks)}"),
        texts(rows, ("rows", "late")) if rows else empty,
        _sources(sources, domains),
        *(_error(run) for run, _ in found),
    )


def _query(run: ShownRun, progress: Progress, domain: TimeDomain | None) -> dict[str, str]:
    return {
        "query": run.name,
        "state": run.state,
        "rows": f"{progress.rows_out:,}",
        "late": f"{progress.late_rows:,}",
        "complete from": instant_or_end(run.complete_from, domain),
    }


def _sources(sources: Mapping[str, SourceProgress], domains: Domain) -> str:
    rows = [
        {
            "source": name,
            "rows": f"{read.rows:,}",
            "late": f"{read.late_rows:,}",
            "watermark": _watermark(read, domains(name)),
        }
        for name, read in sources.items()
    ]
    return texts(rows, ("rows", "late"))


def _watermark(read: SourceProgress, domain: TimeDomain | None) -> str:
    return "" if read.watermark is None else instant_or_end(read.watermark, domain)


def _error(run: ShownRun) -> str:
    error = run.exception()
    return "" if error is None else code(masked(str(error)))


def _ticks(ticks: int) -> str:
    return f"{ticks:,} ticks" if ticks != 1 else "1 tick"
