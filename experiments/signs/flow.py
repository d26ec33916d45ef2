"""What the operators of both approaches share: where rows go, and queues that keep them in order.

Operators are pushed one element at a time, and push what they make to the next operator. Both
approaches are written in the same manner, on the same dictionaries, lists and heaps, so that a
comparison of their run times compares the approaches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from itertools import count

Row = tuple[Hashable, ...]
Element = tuple[Row, int, int]
"""A row with its start and its end, or with its instant and its sign."""
Push = Callable[[Element], object]
Key = Callable[[Row], Hashable]

LONG_AGO = -(1 << 62)
FOR_EVER = 1 << 62


class Operator:
    """An operator: `out` takes what it makes, `close` makes what is left when its input ends."""

    out: Push

    def to(self, *consumers: Push) -> None:
        """Where the elements go."""
        self.out = consumers[0] if len(consumers) == 1 else _each(consumers)

    def close(self) -> None:
        """The input has ended."""

    def __len__(self) -> int:
        """How many elements it remembers."""
        return 0


class Queue:
    """Elements in the order of their start, or of their instant; equal ones as they came."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Element]] = []
        self._number = count()

    def put(self, element: Element) -> None:
        heappush(self._heap, (element[1], next(self._number), element))

    def release(self, until: int, out: Push) -> None:
        """Give away what begins at an instant or before it."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            out(heappop(heap)[2])

    def __len__(self) -> int:
        return len(self._heap)


class Filter(Operator):
    """Rows that a condition holds for (Algorithm 2); signs are filtered like intervals."""

    def __init__(self, predicate: Callable[[Row], bool]) -> None:
        self._predicate = predicate

    def push(self, element: Element) -> None:
        if self._predicate(element[0]):
            self.out(element)


class Map(Operator):
    """A function of every row (Algorithm 3)."""

    def __init__(self, function: Callable[[Row], Row]) -> None:
        self._function = function

    def push(self, element: Element) -> None:
        row, first, second = element
        self.out((self._function(row), first, second))


class Union(Operator):
    """Two streams as one (Algorithm 4)."""

    def __init__(self) -> None:
        self._queue = Queue()
        self._latest = [LONG_AGO, LONG_AGO]

    def left(self, element: Element) -> None:
        self._push(0, element)

    def right(self, element: Element) -> None:
        self._push(1, element)

    def _push(self, side: int, element: Element) -> None:
        self._queue.put(element)
        self._latest[side] = element[1]
        self._queue.release(min(self._latest), self.out)

    def close(self) -> None:
        self._queue.release(FOR_EVER, self.out)

    def __len__(self) -> int:
        return len(self._queue)


class Plan:
    """Operators in the order in which elements reach them, and where the streams enter."""

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.inputs: dict[str, list[Push]] = defaultdict(list)
        self.results: list[Element] = []

    def chain(self, source: str, *steps: Operator | Push) -> None:
        """Lead a stream through operators, one after the other, the last of which may be a port."""
        self.inputs[source].append(_port(steps[0]))
        self.link(*steps)

    def link(self, *steps: Operator | Push) -> None:
        """Lead the elements of each operator to the next one, those of the last to the results."""
        for step, following in zip(steps, [*steps[1:], self.results.append], strict=True):
            if isinstance(step, Operator):
                self.operators.append(step)
                step.to(_port(following))

    def close(self) -> None:
        for operator in self.operators:
            operator.close()

    def __len__(self) -> int:
        return sum(map(len, self.operators))


def _port(step: Operator | Push) -> Push:
    return step.push if isinstance(step, Operator) else step  # type: ignore[attr-defined]


def _each(consumers: tuple[Push, ...]) -> Push:
    def out(element: Element) -> None:
        for consumer in consumers:
            consumer(element)

    return out
