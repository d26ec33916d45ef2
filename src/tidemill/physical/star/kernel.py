"""The compiled part of star joins: one instant after the other.

It stays one module, since what is kept of compiled functions is tied to the text of one.
"""

from __future__ import annotations

import numpy as np

from tidemill.physical.arrays import Array, Ints
from tidemill.physical.star.compiled import compiled_for, part
from tidemill.physical.star.layout import (
    ARRIVAL,
    DGL,
    DIMPPROB,
    GOING,
    NEW,
    NONE,
    RANDOM,
    SEMANTIC,
    SHADOWS,
    SIMP,
    SIMPPROB,
    TOUCHED,
    Rule,
    State,
    blank,
)

# --- Heaps: above is what goes before what is below ---


@part
def _goes_before(rows: Array, a: int, b: int) -> bool:
    one, other = rows[a], rows[b]
    if one.priority != other.priority:
        return one.priority < other.priority
    if one.importance != other.importance:
        return one.importance < other.importance
    if one.matches != other.matches:
        return one.matches < other.matches
    if one.arrival != other.arrival:
        return one.arrival < other.arrival
    return one.lot < other.lot


@part
def _settle(state: State, row: int) -> None:
    """Move a row up or down its heap, to where it belongs."""
    rows = state.rows
    heap, size, at = state.heaps[rows[row].heap], state.sizes[rows[row].heap], rows[row].at
    while at > 0 and _goes_before(rows, row, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        rows[heap[at]].at = at
        at = (at - 1) // 2
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _goes_before(rows, heap[child + 1], heap[child]):
            child += 1
        if not _goes_before(rows, heap[child], row):
            break
        heap[at] = heap[child]
        rows[heap[at]].at = at
        at = child
    heap[at] = row
    rows[row].at = at


@part
def _push(state: State, heap: int, row: int) -> None:
    state.rows[row].heap = heap
    state.rows[row].at = state.sizes[heap]
    state.sizes[heap] += 1
    _settle(state, row)


@part
def _pull(state: State, row: int) -> None:
    heap, at = state.rows[row].heap, state.rows[row].at
    state.rows[row].heap = NONE
    state.sizes[heap] -= 1
    last = state.heaps[heap, state.sizes[heap]]
    if last != row:
        state.rows[last].at = at
        _settle(state, last)


# --- Lists: rows of a key, the newest first; rows of a stream by end ---


@part
def _link(state: State, row: int) -> None:
    mine, key = state.rows[row], state.keys[state.rows[row].key]
    mine.newer, mine.older = NONE, key.newest
    if key.newest == NONE:
        key.oldest = row
    else:
        state.rows[key.newest].newer = row
    key.newest = row
    key.rows += 1


@part
def _unlink(state: State, row: int) -> None:
    mine, key = state.rows[row], state.keys[state.rows[row].key]
    if mine.newer == NONE:
        key.newest = mine.older
    else:
        state.rows[mine.newer].older = mine.older
    if mine.older == NONE:
        key.oldest = mine.newer
    else:
        state.rows[mine.older].newer = mine.newer
    key.rows -= 1


@part
def _schedule(state: State, row: int) -> None:
    """Put a row behind all that end no later: mostly at the end."""
    mine, stream = state.rows[row], state.streams[state.rows[row].stream]
    mine.sooner, mine.later = stream.last, NONE
    while mine.sooner != NONE and state.rows[mine.sooner].end > mine.end:
        mine.later = mine.sooner
        mine.sooner = state.rows[mine.sooner].sooner
    if mine.sooner == NONE:
        stream.soonest = row
    else:
        state.rows[mine.sooner].later = row
    if mine.later == NONE:
        stream.last = row
    else:
        state.rows[mine.later].sooner = row


@part
def _unschedule(state: State, row: int) -> None:
    mine, stream = state.rows[row], state.streams[state.rows[row].stream]
    if mine.sooner == NONE:
        stream.soonest = mine.later
    else:
        state.rows[mine.sooner].later = mine.later
    if mine.later == NONE:
        stream.last = mine.sooner
    else:
        state.rows[mine.later].sooner = mine.sooner


# --- Matches ---


@part
def _is_dynamic(rule: Rule) -> bool:
    """Whether the priority of stored rows depends on what the other streams have."""
    return rule.streams > 1 and rule.policy in (DIMPPROB, DGL, SEMANTIC)


@part
def _met(state: State, version: int, arrival: int) -> bool:
    """Whether a version was active when a row arrived."""
    if not state.rule.changing:
        return True
    return state.versions[version].begin <= arrival < state.versions[version].end


@part
def _count(state: State, version: int, number: int) -> int:
    """How many kept rows of a key a version has met."""
    key = state.keys[number]
    if key.rows == 0 or not state.rule.changing:
        return key.rows
    if _met(state, version, state.rows[key.oldest].arrival) and _met(
        state, version, state.rows[key.newest].arrival
    ):
        return key.rows
    count, row = 0, key.newest
    while row != NONE:
        count += _met(state, version, state.rows[row].arrival)
        row = state.rows[row].older
    return count


@part
def _tally(state: State, row: int, sign: int) -> int:
    """The results that a row is part of; add them, with this sign, to those of its partners."""
    others, counts = state.rule.streams - 1, state.cursors[1]
    mine, total = state.rows[row], 0
    edge = state.keys[mine.key].edge
    while edge != NONE:
        version = state.edges[edge, 1]
        if _met(state, version, mine.arrival):
            results = 1
            for other in range(others):
                counts[other] = _count(state, version, state.edges[edge, 2 + other])
                results *= counts[other]
            total += results
            if sign != 0:
                _tell_partners(state, edge, sign, mine.arrival)
        edge = state.edges[edge, 0]
    return total


@part
def _tell_partners(state: State, edge: int, sign: int, t: int) -> None:
    others, counts = state.rule.streams - 1, state.cursors[1]
    for other in range(others):
        results = np.int64(sign)
        for third in range(others):
            if third != other:
                results *= counts[third]
        if results != 0 and counts[other] != 0:
            _change_matches(state, state.edges[edge, 1], state.edges[edge, 2 + other], results, t)


@part
def _change_matches(state: State, version: int, key: int, change: int, t: int) -> None:
    row = state.keys[key].newest
    while row != NONE:
        mine = state.rows[row]
        if _met(state, version, mine.arrival):
            mine.matches += change
            if change < 0:
                _weaken(state, row)
            elif mine.touched != t:
                mine.touched = t
                state.noted[TOUCHED, state.memory[0].touched] = row
                state.memory[0].touched += 1
        row = mine.older


# --- Priorities ---


@part
def _weaken(state: State, row: int) -> None:
    """Follow matches that are gone; not for rows that have to go themselves."""
    mine = state.rows[row]
    if mine.heap != NONE:
        if state.rule.policy != DGL:
            mine.priority = _product(state, row)
        _settle(state, row)


@part
def _product(state: State, row: int) -> float:
    mine = state.rows[row]
    if state.rule.policy == SEMANTIC:
        return float(mine.matches)
    return mine.importance * mine.matches


@part
def _fallen(state: State, t: int) -> float:
    """By how much priorities of DGL have fallen since the first instant.

    They are kept as if they had not, so that no row must be touched to let all of them fall.
    """
    return state.rule.beta * (t - state.memory[0].origin)


@part
def _place(state: State, row: int, priority: float, t: int) -> None:
    """Put a row into the heap for its priority: under DGL, zero has one of its own."""
    mine, heap = state.rows[row], 2 * state.rows[row].stream
    mine.priority = priority
    if state.rule.policy == DGL:
        fallen = _fallen(state, t)
        mine.priority = priority + fallen
        if mine.priority <= fallen:
            mine.priority = 0.0
            heap += 1
    if mine.heap == heap:
        _settle(state, row)
    else:
        if mine.heap != NONE:
            _pull(state, row)
        _push(state, heap, row)


@part
def _assess_new(state: State, row: int, t: int) -> None:
    mine, policy = state.rows[row], state.rule.policy
    if policy == SIMPPROB:
        mine.matches = _tally(state, row, 0)
    if policy == SIMP:
        _place(state, row, mine.importance, t)
    elif policy == RANDOM:
        _place(state, row, float(mine.lot), t)
    else:
        _place(state, row, _product(state, row), t)


@part
def _assess_touched(state: State, row: int, t: int) -> None:
    mine, priority = state.rows[row], _product(state, row)
    if state.rule.policy == DGL:
        left = float(mine.end - t)
        gain = priority * left / state.rule.alpha
        before = 0.0
        if mine.heap % 2 == 0:
            before = max(0.0, mine.priority - _fallen(state, t - 1))
        priority = before + gain
    _place(state, row, priority, t)


# --- Rows that come and go ---


@part
def _admit(state: State, arrivals: Array, number: int, t: int) -> int:
    """Give an arriving row a number, if it matches an active version."""
    memory, edge, active = state.memory[0], state.keys[arrivals[number].key].edge, 0
    while edge != NONE:
        active += _met(state, state.edges[edge, 1], t)
        edge = state.edges[edge, 0] if state.rule.changing else NONE
    if active == 0:
        memory.filtered += 1
        return NONE
    memory.free -= 1
    row = state.free[memory.free]
    _copy(arrivals[number], state.rows[row])
    state.rows[row].open = active
    if _is_dynamic(state.rule):
        state.rows[row].matches = _tally(state, row, 1)
    _link(state, row)
    return row


@part
def _copy(arrival: Array, row: Array) -> None:
    row.importance, row.lot, row.place = arrival.importance, arrival.lot, arrival.place
    row.arrival, row.end = arrival.arrival, arrival.end
    row.key, row.stream = arrival.key, arrival.stream
    row.matches, row.touched, row.heap = 0, NONE, NONE


@part
def _leave(state: State, row: int) -> None:
    """Take a row out of its heap and away from its partners."""
    if state.rows[row].heap != NONE:
        _pull(state, row)
    _unlink(state, row)
    if _is_dynamic(state.rule):
        _tally(state, row, -1)


@part
def _free(state: State, row: int) -> None:
    state.rows[row].stream = NONE
    state.free[state.memory[0].free] = row
    state.memory[0].free += 1


@part
def _remove(state: State, row: int) -> None:
    """A stored row that can meet nothing any more."""
    _unschedule(state, row)
    _leave(state, row)
    _free(state, row)


@part
def _expire(state: State, t: int) -> None:
    for number in range(state.rule.streams):
        stream = state.streams[number]
        while stream.soonest != NONE and state.rows[stream.soonest].end <= t:
            _remove(state, stream.soonest)


@part
def _close(state: State, version: int) -> None:
    """A version has ended: rows that met no other that is still open go, by rule (8)."""
    for stream in range(state.rule.streams):
        row = state.keys[state.version_keys[version, stream]].newest
        while row != NONE:
            mine = state.rows[row]
            older = mine.older
            if _met(state, version, mine.arrival):
                mine.open -= 1
                if mine.open == 0:
                    _remove(state, row)
            row = older


@part
def _open(state: State, edge: int, version: int) -> None:
    for stream in range(state.rule.streams):
        key = state.keys[state.version_keys[version, stream]]
        state.edges[edge + stream, 0] = key.edge
        key.edge = edge + stream


# --- Shadows: shed rows that are followed, to see what they would have given ---


@part
def _draw(lot: int) -> float:
    """A number from [0, 1) that has nothing to do with the lot but that it is decided by it."""
    mixed = np.uint64(lot) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) / 2.0**53


@part
def _shed(state: State, row: int, t: int) -> None:
    """Follow a row that was shed, or some of them in place of all."""
    mine, memory = state.rows[row], state.memory[0]
    memory.shed += 1
    if memory.shadows == state.rule.shadows:
        _thin_out(state, t)
    if _draw(mine.lot) >= memory.sampled:
        _free(state, row)
        return
    mine.stream += state.rule.streams
    mine.key += 1
    mine.weight = 1.0 / memory.sampled
    _link(state, row)
    state.noted[SHADOWS, memory.shadows] = row
    memory.shadows += 1


@part
def _thin_out(state: State, t: int) -> None:
    """Forget shadows that have ended, and half of the others for as long as they are many."""
    memory = state.memory[0]
    _forget_shadows(state, t)
    if memory.shadows * 4 < state.rule.shadows:
        memory.sampled = min(1.0, 2 * memory.sampled)
    while memory.shadows * 2 > state.rule.shadows:
        memory.sampled /= 2
        _forget_shadows(state, t)


@part
def _forget_shadows(state: State, t: int) -> None:
    memory, kept = state.memory[0], 0
    for at in range(memory.shadows):
        row = state.noted[SHADOWS, at]
        mine = state.rows[row]
        if mine.end > t and _draw(mine.lot) < memory.sampled:
            mine.weight = max(mine.weight, 1.0 / memory.sampled)
            state.noted[SHADOWS, kept] = row
            kept += 1
        else:
            _unlink(state, row)
            _free(state, row)
    memory.shadows = kept


# --- Results ---


@part
def _from(state: State, row: int, version: int, t: int, stored: bool) -> int:
    """The row or the next of its list that met the version; only `stored` ones, if asked to."""
    while row != NONE:
        mine = state.rows[row]
        if (
            mine.end > t
            and _met(state, version, mine.arrival)
            and not (stored and mine.arrival == t)
        ):
            break
        row = mine.older
    return row


@part
def _first(state: State, key: int, version: int, t: int, stored: bool) -> int:
    """The first row of a key that met the version; shadows come last."""
    row = _from(state, state.keys[key].newest, version, t, stored)
    return row if row != NONE else _from(state, state.keys[key + 1].newest, version, t, stored)


@part
def _following(state: State, row: int, version: int, t: int, stored: bool) -> int:
    mine = state.rows[row]
    found = _from(state, mine.older, version, t, stored)
    if found == NONE and mine.key % 2 == 0:
        found = _from(state, state.keys[mine.key + 1].newest, version, t, stored)
    return found


@part
def _meet(state: State, row: int, t: int, found: Ints, used: int) -> int:
    """All results whose first row that arrives, by stream, is this one."""
    stream, cursors, last = state.rows[row].stream, state.cursors[0], state.rule.streams - 2
    edge = state.keys[state.rows[row].key].edge
    while edge != NONE:
        version, level = state.edges[edge, 1], 0
        if not _met(state, version, t):
            level = NONE
        elif last < 0:
            used = _emit(state, row, version, t, found, used)
            level = NONE
        else:
            cursors[0] = _first(state, state.edges[edge, 2], version, t, stream > 0)
        while level >= 0:
            if cursors[level] == NONE:
                level -= 1
                if level >= 0:
                    cursors[level] = _following(state, cursors[level], version, t, level < stream)
            elif level < last:
                level += 1
                key = state.edges[edge, 2 + level]
                cursors[level] = _first(state, key, version, t, level < stream)
            else:
                used = _emit(state, row, version, t, found, used)
                cursors[level] = _following(state, cursors[level], version, t, level < stream)
        edge = state.edges[edge, 0]
    return used


@part
def _emit(state: State, row: int, version: int, t: int, found: Ints, used: int) -> int:
    """Write a result down, or take note that it is lost."""
    n, memory = state.rule.streams, state.memory[0]
    weight, importance, end = 0.0, state.rows[row].importance, state.rows[row].end
    found[used, state.rows[row].stream] = state.rows[row].place
    for level in range(n - 1):
        other = state.rows[state.cursors[0, level]]
        importance, end = min(importance, other.importance), min(end, other.end)
        if other.stream >= n:
            weight = max(weight, 1.0) * other.weight
        else:
            found[used, other.stream] = other.place
    if weight > 0.0:
        memory.results_lost += weight
        memory.importance_lost += weight * importance
        return used
    found[used, n], found[used, n + 1], found[used, n + 2] = version, t, end
    return used + 1


# --- An instant ---


@part
def _evict(state: State, t: int) -> int:
    """Choose the rows that there is no room for, before any of them goes."""
    going = 0
    for stream in range(state.rule.streams):
        high, low = 2 * stream, 2 * stream + 1
        if state.sizes[high] + state.sizes[low] <= state.rule.share:
            continue
        if state.rule.policy == DGL:
            _sink(state, high, t)
        while state.sizes[high] + state.sizes[low] > state.rule.share:
            row = state.heaps[low if state.sizes[low] > 0 else high, 0]
            _pull(state, row)
            state.noted[GOING, going] = row
            going += 1
    return going


@part
def _sink(state: State, high: int, t: int) -> None:
    """Move rows whose priority has fallen to zero."""
    fallen = _fallen(state, t)
    while state.sizes[high] > 0:
        row = state.heaps[high, 0]
        if state.rows[row].priority > fallen:
            break
        _place(state, row, 0.0, t)


@part
def _choose(state: State, new: int, t: int) -> None:
    """Assess all rows, then let those go that there is no room for."""
    memory = state.memory[0]
    for at in range(new):
        _assess_new(state, state.noted[NEW, at], t)
    for at in range(memory.touched):
        row = state.noted[TOUCHED, at]
        if state.rows[row].arrival < t:
            _assess_touched(state, row, t)
    for at in range(_evict(state, t)):
        row = state.noted[GOING, at]
        if state.rows[row].arrival < t:
            _unschedule(state, row)
            _leave(state, row)
            _shed(state, row, t)


@part
def _settle_down(state: State, new: int, t: int) -> None:
    """Keep the rows that arrived and were given a place."""
    for at in range(new):
        row = state.noted[NEW, at]
        if state.rows[row].heap != NONE:
            _schedule(state, row)
        else:
            _leave(state, row)
            if state.rule.streams > 1:
                _shed(state, row, t)
            else:
                _free(state, row)
    kept = 0
    for heap in range(2 * state.rule.streams):
        kept += state.sizes[heap]
    state.memory[0].most = max(state.memory[0].most, kept)


@part
def _next_instant(state: State, arrivals: Array, opening: Array, ending: Array) -> int:
    """Do all that comes before results; the room that they need, and one that is lost."""
    memory = state.memory[0]
    t = arrivals[memory.arrived].arrival
    if memory.origin == NONE:
        memory.origin = t
    _expire(state, t)
    while memory.ended < len(ending) and state.versions[ending[memory.ended]].end <= t:
        _close(state, ending[memory.ended])
        memory.ended += 1
    while memory.opened < len(opening) and state.versions[opening[memory.opened, 0]].begin <= t:
        _open(state, opening[memory.opened, 1], opening[memory.opened, 0])
        memory.opened += 1
    memory.now, memory.new, memory.touched = t, 0, 0
    while memory.arrived < len(arrivals) and arrivals[memory.arrived].arrival == t:
        row = _admit(state, arrivals, memory.arrived, t)
        if row != NONE:
            state.noted[NEW, memory.new] = row
            memory.new += 1
        memory.arrived += 1
    if state.rule.streams > 1:
        _choose(state, memory.new, t)
    room = 1
    for number in range(memory.new):
        room += _tally(state, state.noted[NEW, number], 0)
    return room


_RULE = Rule(2, 0, 0, 0, 1.0, 1.0, False)
_BLANK = blank(_RULE)


@compiled_for(
    _BLANK,
    np.zeros(0, ARRIVAL),
    np.zeros((0, 2), np.int32),
    np.zeros(0, np.int32),
    0,
    np.zeros((0, 5), np.int64),
)
def sweep(
    state: State, arrivals: Array, opening: Array, ending: Array, until: int, found: Ints
) -> int:
    """Go through time, from one instant at which rows arrive to the next.

    `arrivals` are rows in the order of their arrival, `opening` versions with their first edges
    in the order of their begin, `ending` versions in the order of their end. What is found are
    the places of rows, the version, start and end; the number of results is returned. If they
    need more room, `memory.needed` says how much, and a second call goes on.
    """
    memory, used = state.memory[0], 0
    while memory.needed > 0 or memory.arrived < len(arrivals):
        if memory.needed == 0:
            memory.needed = _next_instant(state, arrivals, opening, ending)
        if used + memory.needed > len(found):
            return used
        memory.needed = 0
        for number in range(memory.new):
            used = _meet(state, state.noted[NEW, number], memory.now, found, used)
        _settle_down(state, memory.new, memory.now)
    for number in range(memory.ended, len(ending)):
        _close(state, ending[number])
    for number in range(memory.opened, len(opening)):
        _open(state, opening[number, 1], opening[number, 0])
    _expire(state, until)
    memory.arrived, memory.opened, memory.ended = 0, 0, 0
    return used
