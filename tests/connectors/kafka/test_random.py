"""Random histories of a topic and its reader: every message is in one slice, and stays there."""

from __future__ import annotations

from itertools import count, pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.connectors.kafka.broker import PARTITIONS, Broker
from tests.connectors.kafka.test_feed import feed_of, items, offsets

SEND = st.tuples(st.just("send"), st.integers(0, PARTITIONS - 1), st.integers(1, 9))
ACTION = st.one_of(SEND, st.sampled_from([("look",), ("restart",), ("forget",)]))
NUMBERS = count()


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=st.lists(ACTION, max_size=14), most=st.integers(1, 12))
def test_every_message_is_in_one_slice(
    broker: Broker, tmp_path: Path, actions: list[tuple[object, ...]], most: int
) -> None:
    name = f"random-{tmp_path.name}-{next(NUMBERS)}"
    topic, folder = broker.make(name), tmp_path / name
    feed = feed_of(broker, topic, folder, maxOffsetsPerTrigger=most)
    known: dict[int, list[tuple[int, ...]]] = {}
    sent, forgotten = 0, 0
    for kind, *more in [*actions, ("look",)]:
        if kind == "send":
            partition, some = more
            rows = [{"item": sent + n, "at": 0} for n in range(int(str(some)))]
            broker.send_rows(topic, rows, partition=int(str(partition)))
            sent += len(rows)
        elif kind == "restart":
            feed = feed_of(broker, topic, folder, maxOffsetsPerTrigger=most)
        elif kind == "forget" and known:
            forgotten = max(known)
            feed.forget(forgotten)
        if kind != "send":
            for number, ranges in enumerate(offsets(feed, feed.first), feed.first):
                assert known.setdefault(number, ranges) == ranges
    assert sorted(known) == list(range(feed.poll()))
    for partition in range(PARTITIONS):
        parts = [part for n in sorted(known) for part in known[n] if part[0] == partition]
        assert not parts or parts[0][1] == 0
        assert all(before[2] == after[1] for before, after in pairwise(parts))
    assert sum(end - start for ranges in known.values() for _, start, end in ranges) == sent
    assert all(sum(end - start for _, start, end in ranges) <= most for ranges in known.values())
    if not forgotten:
        assert sorted(items(feed)) == list(range(sent))
