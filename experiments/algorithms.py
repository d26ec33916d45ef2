"""The algorithms of Golab and Özsu, row by row, counting the rows they look at.

All are one: nested loops over the windows, in an order that may depend on the stream that the new
rows came from. With the new rows at the top it is the multi-way join, with one order for all the
naive one, else the general one. Rows are joined as they arrive, or every `tau`.

Where the text is at fault, this follows its examples: new rows are those after the last
evaluation, up to and including its time; of rows with the same timestamp, one came first; and a
count-based window holds as many rows as it says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

Loops = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A row, its stream, and its places among all rows and among those of its stream."""

    stream: int
    ts: int
    value: int
    place: int
    count: int


@dataclass(frozen=True)
class Join:
    """What is joined and how.

    `orders[i]` are the loops for new rows of stream i. Windows are `sizes` long in time, or with
    `counted`, in rows. `checked` is whether expiry is tested against the new row of a result; it
    is off only to show what the text's first algorithm does wrong.
    """

    sizes: tuple[int, ...]
    orders: tuple[Loops, ...]
    tau: int | None = None
    buckets: tuple[int, ...] = ()
    counted: bool = False
    checked: bool = True


@dataclass
class Evaluation:
    """When new rows were joined, the timestamps of the results, and how many rows were seen."""

    now: int
    results: list[tuple[int, ...]] = field(default_factory=list)
    accesses: int = 0


def first_at_top(order: Sequence[int]) -> tuple[Loops, ...]:
    """The loops of the multi-way join, by origin, given its global order.

    >>> first_at_top([2, 0, 1])
    ((0, 2, 1), (1, 2, 0), (2, 0, 1))
    """
    return tuple(
        (origin, *(stream for stream in order if stream != origin)) for origin in sorted(order)
    )


def arrivals(rows: Iterable[tuple[int, int, int]]) -> list[Row]:
    """Rows as (stream, timestamp, value), in the order they come."""
    counts: dict[int, int] = {}
    result = []
    for place, (stream, ts, value) in enumerate(rows):
        counts[stream] = counts.get(stream, 0) + 1
        result.append(Row(stream, ts, value, place, counts[stream]))
    return result


def run(
    join: Join, rows: Sequence[Row], until: int | None = None, full: int = 0
) -> list[Evaluation]:
    """Evaluate the join over all rows, and `until` some time after them.

    Rows up to the time `full` only fill the windows.
    """
    simulation = _Simulation(join, rows)
    first = bisect_left(rows, full + 1, key=lambda row: row.ts)
    simulation.fill(rows[:first])
    if join.tau is None:
        return [simulation.evaluate(row.ts, [row]) for row in rows[first:]]
    end = until if until is not None else rows[-1].ts
    times = range(full + join.tau, end + join.tau, join.tau)
    return [simulation.evaluate(now, batch) for now, batch in _batches(rows[first:], times)]


def _batches(rows: Sequence[Row], times: Iterable[int]) -> Iterator[tuple[int, list[Row]]]:
    begin = 0
    for now in times:
        end = bisect_left(rows, now + 1, key=lambda row: row.ts)
        yield now, list(rows[begin:end])
        begin = end


class _Simulation:
    def __init__(self, join: Join, rows: Sequence[Row]) -> None:
        self.join = join
        self.streams = range(len(join.sizes))
        buckets = join.buckets or (1,) * len(join.sizes)
        self.stored: list[list[list[Row]]] = [[[] for _ in range(count)] for count in buckets]
        # To tell which row of a stream was the newest when another came.
        self.places = [[row.place for row in rows if row.stream == at] for at in self.streams]

    def fill(self, batch: Sequence[Row]) -> None:
        """Put new rows into their windows."""
        for row in batch:
            buckets = self.stored[row.stream]
            buckets[row.value % len(buckets)].append(row)

    def evaluate(self, now: int, batch: Sequence[Row]) -> Evaluation:
        """Join new rows with the windows. If eager, old rows expire before, else after."""
        self.fill(batch)
        if self.join.tau is None:
            self._expire(batch[0])
        found = Evaluation(now)
        for origin in self.streams:
            new = [row for row in batch if row.stream == origin]
            if new:
                found.results += self._loop(found, new, self.join.orders[origin], {})
        if self.join.tau is not None:
            after = batch[-1].place + 1 if batch else 0
            self._expire(Row(-1, now, 0, after, 0))
        return found

    def _loop(
        self, found: Evaluation, new: Sequence[Row], order: Loops, chosen: dict[int, Row]
    ) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(order):
            yield tuple(chosen[stream].ts for stream in self.streams)
            return
        stream, origin = order[len(chosen)], new[0].stream
        first = chosen.get(order[0])
        for row in self._scanned(stream, new, first):
            if first is not None:
                found.accesses += 1
                if row.value != first.value:
                    continue
            if self._alive(stream, row, origin, chosen):
                yield from self._loop(found, new, order, {**chosen, stream: row})

    def _scanned(self, stream: int, new: Sequence[Row], first: Row | None) -> Iterable[Row]:
        """What a loop looks at: a bucket, or at the top, all rows."""
        buckets = self.stored[stream]
        if stream == new[0].stream:
            if first is None or self.join.tau is None:
                return new
            return [row for row in new if (row.value - first.value) % len(buckets) == 0]
        return chain(*buckets) if first is None else buckets[first.value % len(buckets)]

    def _alive(self, stream: int, row: Row, origin: int, chosen: dict[int, Row]) -> bool:
        """Whether all were in their windows when the new row came, as far as can be told yet."""
        if not self.join.checked:
            return True
        if stream == origin:
            return all(self._in_window(other, row) for other in chosen.values())
        return origin not in chosen or self._in_window(row, chosen[origin])

    def _in_window(self, row: Row, new: Row) -> bool:
        return row.place < new.place and self._unexpired(row, new)

    def _unexpired(self, row: Row, new: Row) -> bool:
        size = self.join.sizes[row.stream]
        if not self.join.counted:
            return new.ts - size <= row.ts
        newest = bisect_left(self.places[row.stream], new.place)
        return row.count > newest - size

    def _expire(self, new: Row) -> None:
        for stream in self.streams:
            if stream != new.stream:
                self.stored[stream] = [
                    [row for row in bucket if self._unexpired(row, new)]
                    for bucket in self.stored[stream]
                ]
