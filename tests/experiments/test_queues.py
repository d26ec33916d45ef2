"""Figures 14.9 to 14.11: what keeps the ends, and where the queue is, changes no result."""

import pytest

from experiments.signs.areas import FifoJoin, InputQueueJoin, QueuedJoin
from experiments.signs_queues import arrivals, run


@pytest.mark.parametrize("values", [5, 100])
def test_structures_do_not_change_the_results(values: int) -> None:
    given = arrivals(300, values)
    default, fifo, at_input = (run(k, given, 1) for k in (QueuedJoin, FifoJoin, InputQueueJoin))
    assert fifo.results == at_input.results == default.results
    assert default.results.total() > 0


def test_a_queue_at_the_input_does_not_grow_with_the_results() -> None:
    few, many = (run(InputQueueJoin, arrivals(5000, values), 1).size for values in (1000, 100))
    assert abs(few - many) < 0.3 * many
    assert run(QueuedJoin, arrivals(2000, 100), 1).size > 2 * many
