"""Memory and processing of operators as the text builds them (PIPES, 22.4).

Costs are per unit of application time, in units of the step costs given; memory is in bytes.
Constants keep the names of the text's tables: `c` are the costs of single steps, `s` sizes. The
text's operators work row by row on hash tables, lists and queues; `usage` estimates ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidemill.optimize.cost import characteristics as streams
from tidemill.optimize.cost.characteristics import Characteristics, hit

Numbers = Mapping[str, float]
"""Costs or sizes, by the name that the text's tables give them."""

Resources = dict[str, float]
"""Memory `M`, processing `C`, and the parts that `C` is the sum of."""


def of_filter(stream: Characteristics, selectivity: float, c: Numbers) -> Resources:
    """Formulas 22.13 and 22.14: every row is tested, some are passed on.

    >>> of_filter(Characteristics(10, 1), 0.5, {"C_P": 3, "C_O": 2})
    {'M': 0.0, 'C': 0.4}
    """
    out = streams.filtered(stream, selectivity)
    return {"M": 0.0, "C": c["C_P"] * stream.rate + c["C_O"] * out.rate}


def of_map(stream: Characteristics, c: Numbers) -> Resources:
    """Formulas 22.13 and 22.15: every row is computed anew."""
    return {"M": 0.0, "C": (c["C_F"] + c["C_C"] + c["C_O"]) * stream.rate}


def of_union(inputs: Sequence[Characteristics], c: Numbers) -> Resources:
    """Formulas 22.16 and 22.17; the queue that orders the rows is not counted."""
    return {"M": 0.0, "C": c["C_O"] * streams.united(inputs).rate}


def of_join(
    left: Characteristics,
    right: Characteristics,
    selectivity: float,
    s: Numbers,
    c: Numbers,
) -> Resources:
    """Formulas 22.18 to 22.23: a hash table per side, `B1` and `B2` buckets.

    One bucket and no cost of hashing make it a nested-loops join.
    """
    rate = left.rate + right.rate
    late_left = left.rate / right.rate / 2  # rows that pile up until the other side's next
    late_right = right.rate / left.rate / 2
    scanned = left.rate * right.live_rows / s["B2"] + right.rate * left.live_rows / s["B1"]
    return _sum(
        (left.live_rows + late_left) * s["s1"] + (right.live_rows + late_right) * s["s2"],
        C_insert=rate * (c["C_H"] + c["C_B"]) + left.rate * c["C_L1"] + right.rate * c["C_L2"],
        C_probe=scanned * c["C_P"] + rate * c["C_H"],
        C_result=streams.joined(left, right, selectivity).rate * (c["C_F"] + c["C_O"]),
        # An arrival on one side purges the other.
        C_purge=rate * (2 * c["C_R"] + c["C_B"]) + left.rate * c["C_L2"] + right.rate * c["C_L1"],
    )


def of_deduplication(stream: Characteristics, values: float, s: Numbers, c: Numbers) -> Resources:
    """Formulas 22.24 to 22.29, for so many different rows in `B` buckets."""
    memory, rate = stream.live_rows * s["s"], stream.rate
    if values * stream.distance <= stream.length:  # most rows find their value in the state
        return _sum(
            memory,
            C_purge=rate * c["C_R"],
            C_probe=rate * (c["C_H"] + c["C_P"] * values / s["B"]),
            C_insert=rate * (c["C_H"] + c["C_B"] + c["C_U"] + c["C_C"] + c["C_Q"]),
            C_transfer=rate * (2 * (c["C_E"] + c["C_M"]) + c["C_Q"] + c["C_O"]),
        )
    return _sum(
        memory,
        C_purge=rate * (2 * c["C_R"] + c["C_B"] + c["C_L"]),
        C_probe=rate * (c["C_H"] + c["C_P"] * stream.live_rows / s["B"]),
        C_insert=rate * (c["C_H"] + c["C_B"] + c["C_L"] + c["C_O"]),
        C_transfer=rate * c["C_E"],
    )


def of_aggregation(stream: Characteristics, s: Numbers, c: Numbers) -> Resources:
    """Formulas 22.30 to 22.34: a list of partial results, cut at the ends of rows."""
    pieces = partial_results(stream)
    out = streams.aggregated(stream)
    overlap = stream.distance < stream.length
    new = out.rate / 2 * (2 * c["C_C"] + c["C_I"] + 2 * c["C_L"])
    first = stream.rate * (c["C_C"] + c["C_I"] + c["C_L"])
    update = stream.rate * pieces * (c["C_P"] + c["C_C"] + c["C_M"] + c["C_L"])
    return _sum(
        pieces * s["s"],
        C_init=new if overlap else first,
        C_update=update if overlap else stream.rate * c["C_P"],
        C_extract=out.rate * (c["C_R"] + c["C_E"] + c["C_L"] + c["C_O"]) + stream.rate * c["C_R"],
    )


def of_grouping(stream: Characteristics, groups: float, s: Numbers, c: Numbers) -> Resources:
    """Formulas 22.35 to 22.39: an aggregation per group, and queues that merge their results.

    The text uses C_M, C_E and C_C for two things each. Those of queues and groups are C_QM, C_QE
    and C_GC here.
    """
    one = Characteristics(groups * stream.distance, stream.length, stream.granularity)
    aggregation = of_aggregation(one, {"s": s["s_p"]}, c)
    out = streams.grouped(stream, groups).rate
    overlap = one.distance < one.length
    kept, looked_at = s["s_m"] + s["s_g"] + s["s_a"], c["C_QE"] + c["C_QM"]
    missed = looked_at if overlap else c["C_QE"]
    few = groups * s["s_m"] + s["s_p"] + s["s_g"] + s["s_a"]
    return _sum(
        groups * (aggregation["M"] + kept) if overlap else few,
        C_update=stream.rate * (c["C_G"] + c["C_A"])
        + groups * (aggregation["C_init"] + aggregation["C_update"]),
        C_gather=out * (looked_at + c["C_A"] + 3 * c["C_Q"] + c["C_GC"])
        + groups * aggregation["C_extract"],
        C_transfer=out * (looked_at + c["C_Q"]) + stream.rate * missed,
    )


def partial_results(stream: Characteristics) -> float:
    """How many pieces of time an aggregation keeps (formula 22.30; the granule must not be
    longer than rows hold)."""
    if stream.distance >= stream.length:
        return 1.0
    granule = min(stream.granularity, stream.length)
    return stream.length / granule * hit(granule / stream.length, stream.live_rows)


def of_split(stream: Characteristics, length: float, s: Numbers, c: Numbers) -> Resources:
    """Formulas 22.40 to 22.44: rows that still have pieces to give, and a queue of pieces."""
    rate, pieces = stream.rate, stream.length / length
    if pieces <= 1:
        passed = rate * (c["C_S"] + c["C_O"])
        return _sum(0.0, C_insert=0.0, C_split=passed, C_purge=rate * c["C_R"])
    cut = c["C_S"] + c["C_C"]
    return _sum(
        (stream.live_rows + pieces / 2) * s["s"],
        C_insert=rate * c["C_I"],
        C_split=rate * (cut + pieces * (cut + 2 * c["C_Q"] + c["C_E"] + c["C_O"])),
        C_purge=rate * (2 * c["C_R"] + c["C_D"]),
    )


def of_granularity(stream: Characteristics, granule: float, c: Numbers) -> Resources:
    """Formulas 22.45 and 22.46: both ends are rounded, what is left is passed on."""
    out = streams.coarsened(stream, granule)
    rounded = stream.rate * (2 * c["C_S"] + c["C_T"])
    return {"M": 0.0, "C": rounded + out.rate * (c["C_C"] + c["C_O"])}


def of_time_window(stream: Characteristics, c: Numbers) -> Resources:
    """Formulas 22.47 and 22.48."""
    return {"M": 0.0, "C": stream.rate * (c["C_S"] + c["C_C"] + c["C_O"])}


def of_count_window(stream: Characteristics, rows: float, s: Numbers, c: Numbers) -> Resources:
    """Formulas 22.49 and 22.50."""
    steps = c["C_R"] + c["C_D"] + c["C_C"] + c["C_O"] + c["C_I"]
    return {"M": rows * s["s"], "C": stream.rate * steps}


def of_partitioned_window(
    stream: Characteristics, partitions: float, rows: float, s: Numbers, c: Numbers
) -> Resources:
    """Formulas 22.51 to 22.56."""
    rate = stream.rate
    return _sum(
        partitions * (rows * s["s"] + s["s_m"] + s["s_g"] + s["s"]),
        C_group=rate * (c["C_G"] + c["C_A"]),
        C_extract=rate * (c["C_P"] + c["C_C"] + c["C_Q"] + c["C_D"]),
        C_insert=rate * (c["C_I"] + c["C_Q"]),
        C_transfer=rate * (2 * (c["C_E"] + c["C_M"]) + c["C_Q"] + c["C_O"]),
    )


def _sum(memory: float, **parts: float) -> Resources:
    return {"M": memory, **parts, "C": sum(parts.values())}
