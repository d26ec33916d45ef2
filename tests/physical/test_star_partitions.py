"""Star joins in several partitions, each with a part of the relation and of the memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import polars as pl
import pytest

from tests.physical.star import Case, Values, named, random_case, run
from tidemill.algebra import Policy
from tidemill.errors import ExecutionError
from tidemill.physical.operators.star import AssignPartitionExec
from tidemill.physical.operators.star.components import shares
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import OPEN_END

PARTITIONS = 3


def assigned(case: Case, number: int, facts: pl.DataFrame) -> pl.DataFrame:
    """Rows of a stream with their partitions."""
    node, rows = case.node, case.batch(number, case.inputs[number])
    exec_ = AssignPartitionExec(
        node.streams[number],
        node.relation,
        number,
        node.stream_keys,
        node.relation_keys,
        PARTITIONS,
    )
    operator = exec_.operator()
    waiting, mark = operator.step([rows, facts[:2]], [OPEN_END, 0])
    assert (waiting.height, mark) == (0, 0)
    result, mark = operator.step([rows.clear(), facts[2:]], [OPEN_END, OPEN_END])
    assert mark == OPEN_END
    assert operator.measures["rows_filtered"] == rows.height - result.height
    return result


def divided(case: Case, random: Random) -> tuple[Counter[Values], list[dict[str, float]]]:
    """The results of all partitions, and what each says of its work."""
    n, relation = len(case.streams), case.batch(len(case.streams), case.inputs[-1])
    streams = [assigned(case, number, relation) for number in range(n)]
    found, measures = Counter[Values](), []
    for partition in range(PARTITIONS):
        operator = replace(case.node, partitions=PARTITIONS).operator()
        operator.start(partition)
        mine = [
            rows.filter(pl.col("#partition") == partition).drop("#partition") for rows in streams
        ]
        # Every task may get the rows of the relation in another order.
        facts = relation.sample(fraction=1.0, shuffle=True, seed=random.randint(0, 99))
        result, _ = operator.step([*mine, facts], [OPEN_END] * (n + 1))
        found += named(case, result)
        measures.append(operator.measures)
    return found, measures


@pytest.mark.parametrize("streams", [2, 3])
def test_partitions_together_are_exact_with_enough_memory(streams: int) -> None:
    for seed in range(6):
        random = Random(f"{streams} {seed}")
        case = random_case(random, random.choice(list(Policy)), streams, changing=False)
        case = replace(case, relation=[(values, 0, OPEN_END) for values, _, _ in case.relation])
        exact = case.unbounded
        every, _ = divided(exact, random)
        assert every == exact.expected
        some, measures = divided(case, random)
        assert some <= exact.expected
        assert sum(each["most_rows_kept"] for each in measures) <= case.shedding.rows
        lost = sum(each["results_lost_estimate"] for each in measures)
        assert lost == exact.expected.total() - some.total()


def test_a_row_in_the_wrong_partition_is_an_error() -> None:
    case = random_case(Random(8), Policy.SIMP, 2, changing=False)
    case = replace(case, relation=[((0, 0, "f0"), 0, OPEN_END), ((1, 1, "f1"), 0, OPEN_END)])
    operator = replace(case.node, partitions=PARTITIONS).operator()
    operator.start(2)  # where there is nothing
    with pytest.raises(ExecutionError, match="knows nothing"):
        run(case, operator, iter([(case.inputs, [OPEN_END] * 3)]))


@pytest.mark.parametrize(
    ("loads", "places", "expected"),
    [
        ([5, 5], 7, [4, 3]),
        ([1000, 1, 1], 3, [1, 1, 1]),
        ([1000, 1, 1], 2, [2, 0, 0]),
        ([0, 0], 5, [0, 0]),
        ([3, 0, 3], 9, [5, 0, 4]),
    ],
)
def test_shares_of_memory(loads: list[int], places: int, expected: list[int]) -> None:
    assert shares(np.array(loads), places).tolist() == expected


def test_what_partitions_have_shed_adds_up() -> None:
    one = OperatorProgress("StarJoinExec", measures={"rows_shed": 2.0, "importance_given": 0.5})
    one.merge(OperatorProgress("StarJoinExec", measures={"rows_shed": 3.0}))
    assert one.measures == {"rows_shed": 5.0, "importance_given": 0.5}
