"""The migrations of a running graph: how they begin, go on and end, as revisions of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tidemill.algebra.plan import nodes_of
from tidemill.errors import ExecutionError, PlanError, TidemillError
from tidemill.graph.join_inputs import RunningJoins
from tidemill.graph.migration import (
    Migration,
    Phase,
    hand_overs,
    split_time,
    variant_for,
)
from tidemill.graph.query_graph import Gate, GraphQuery, QueryGraph
from tidemill.graph.succession import differing, merged, substituted, successors
from tidemill.physical.facts import NEVER
from tidemill.physical.net_changes import ChangesExec
from tidemill.physical.operator import Exec
from tidemill.physical.snapshot import SnapshotExec
from tidemill.runtime.interface import Job, Root
from tidemill.timeline import BEGIN


class Migrations:
    """Lets queries of a graph go on with other plans, without a gap in their answers.

    Both plans run until the time of the streams has passed the split. Then the old one goes. New
    plans are `taken` with sizes of windows as they are in force.
    """

    def __init__(self, graph: QueryGraph, taken: Gate | None = None) -> None:
        self._graph = graph
        self._taken: Gate = taken or (lambda name, job: job)
        # Those that a checkpoint has left in the middle go on.
        plans = {name: plan_of(query.job) for name, query in graph.queries.items()}
        self.of = {n: _resumed(n, plan) for n, plan in plans.items() if hand_overs(plan)}
        graph.after_each_tick(self._go_on)
        graph.after_revision.append(lambda carried: self._follow())

    def start(
        self, name: str, plan: Exec, same_meaning: bool = True, meaning: str | None = None
    ) -> Migration:
        """Let a query go on with another plan.

        Plans with the `same_meaning` give the same snapshots of the same streams; else the query
        means something else from the split on, which a checkpoint knows by its `meaning`.
        """
        with self._graph.lock:
            self._graph.finish()
            query = self._free(name)
            try:
                migration = self._begun(query, plan_of(self._prepared(query, plan)), same_meaning)
                self._hand_over(query, migration, meaning)
            except (TidemillError, OSError):
                self._graph.refuse()
                raise
            self.of[name] = migration
            if not hand_overs(migration.handing_over):
                migration.end(self._graph.run.ticks)
            return migration

    def _hand_over(self, query: GraphQuery, migration: Migration, meaning: str | None) -> None:
        before, query.meaning = query.meaning, query.meaning if meaning is None else meaning
        # Parts of the new plan that run already have to tell how far they have come.
        if not self._switched({query.name: migration.handing_over}, migration.made_eager):
            query.meaning = before
            raise _in_two_ways(query.name)

    def _free(self, name: str) -> GraphQuery:
        query = self._graph.find(name)
        if not self._graph.is_running(name):
            raise ExecutionError(f"the query `{name}` is not running", help="start it first")
        known = self.of.get(name)
        if known is not None and known.is_running:
            raise ExecutionError(
                f"the query `{name}` is migrating to another plan until {known.split}",
                help="wait until the watermark of its streams has passed that instant, or stop it",
            )
        return query

    def _prepared(self, query: GraphQuery, plan: Exec) -> Job:
        """A new plan in the words of the graph. Joins that others need keep their orders."""
        job = replace(query.job, plan=self._graph.matched(plan, refills=False))
        job = self._taken(query.name, job)
        joins = RunningJoins()
        for name, other in self._graph.running.items():
            if name != query.name:
                joins.note(other.job.plan)
        return replace(job, plan=joins.adopted(job.plan))

    def _begun(self, query: GraphQuery, new: Exec, same_meaning: bool) -> Migration:
        old, running = plan_of(query.job), self._graph.run.nodes
        variant = variant_for(old, new, same_meaning)
        split = NEVER
        # Deep in the plan, as much as possible goes on. At the top, the least has to be known.
        for goes_on in (self._goes_on(query), _nothing_goes_on):
            pairs = differing(old, new, goes_on)
            if pairs is None:
                raise _other_columns(query.name, old, new)
            splits = [split_time(variant, running[a], self._missed(b)) for a, b in pairs]
            split = max(splits, default=BEGIN)
            if split < NEVER:
                break
        else:
            raise _never(query.name)
        plan = merged(old, new, goes_on, lambda a, b: variant(a, b.with_eager(True), split))
        assert plan is not None
        made_eager = {part: part.with_eager(True) for _, part in pairs if part in running}
        tick = self._graph.run.ticks
        return Migration(query.name, old, new, split, plan, tick, _changing(made_eager))

    def _missed(self, new: Exec) -> int:
        return self._graph.missed(new if new in self._graph.run.nodes else new.with_eager(True))

    def _goes_on(self, query: GraphQuery) -> Callable[[Exec, Exec], bool]:
        """Whether an operator can go on in another place: no one else may need it or the place."""
        uses, running = self._graph.uses, self._graph.run.nodes

        def goes_on(old: Exec, new: Exec) -> bool:
            alone = uses.queries(old) == (query.name,)
            return alone and (old == new or new not in running)

        return goes_on

    def _go_on(self) -> None:
        for migration in [each for each in self.of.values() if each.is_running]:
            query = self._graph.queries[migration.query]
            if not self._graph.is_running(migration.query):
                migration.end(self._graph.run.ticks, Phase.CANCELLED)
                self._switched({}, _reversed(migration.made_eager))
            else:
                self._advance(migration, query)

    def _follow(self) -> None:
        """Take note of what others have changed meanwhile, such as sizes of windows."""
        for migration in [each for each in self.of.values() if each.is_running]:
            plan, before = plan_of(self._graph.find(migration.query).job), migration.handing_over
            if plan != before and hand_overs(plan):
                if _new(plan) != _new(before):
                    migration.new = _new(plan).with_eager(False)
                migration.old, migration.handing_over = _old(plan), plan

    def _advance(self, migration: Migration, query: GraphQuery) -> None:
        """The new plan must have passed the split, and then the old one have told all before it."""
        running = self._graph.run.nodes
        places = hand_overs(plan_of(query.job))
        if any(running[place.new].watermark < migration.split for place in places):
            return
        behind = [p.old for p in places if running[p.old].watermark < migration.split]
        if behind:
            self._drain(migration, query, behind)
        elif not any(running[place].state_rows for place in places):
            self._finish(migration, query)

    def _drain(self, migration: Migration, query: GraphQuery, behind: list[Exec]) -> None:
        """Have open results of the old plan cut, whoever else needs them."""
        telling = _changing({part: part.with_eager(True) for part in behind})
        plan = substituted(plan_of(query.job), telling)
        if telling and self._switched({query.name: plan}, telling):
            migration.made_eager |= telling

    def _finish(self, migration: Migration, query: GraphQuery) -> None:
        for place in hand_overs(plan_of(query.job)):
            self._graph.note_take_over(place.new, migration.split)
        done = self._switched({query.name: migration.new}, _reversed(migration.made_eager))
        # If somebody else has begun with parts of the new plan, they stay apart.
        if done or self._switched({query.name: _new(plan_of(query.job))}, {}):
            migration.end(self._graph.run.ticks)

    def _switched(self, plans: Mapping[str, Exec], parts: Mapping[Exec, Exec]) -> bool:
        """Let queries go on with these plans, and others with some parts replaced; whether it can
        be done so that no operator is needed in two places."""
        jobs = {n: replace(self._graph.find(n).job, plan=plan) for n, plan in plans.items()}
        users = {name for part in parts for name in self._graph.uses.queries(part)}
        for name in users - jobs.keys():
            job = self._graph.find(name).job
            jobs[name] = replace(job, plan=substituted(job.plan, dict(parts)))
        before = {name: self._graph.find(name).root for name in jobs}
        roots = {name: replace(before[name], job=job) for name, job in jobs.items()}
        carried: dict[Exec, Exec] = {}
        for name, root in roots.items():
            carried |= successors(root.running, before[name].running)
        if self._collides(roots, carried):
            return False
        self._graph.replace(roots, carried)
        return True

    def _collides(self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec]) -> bool:
        """Whether an operator is needed in its old place, too, or its new place is taken."""
        changed = set(nodes_of(*(root.running for root in roots.values())))
        uses, running = self._graph.uses, self._graph.run.nodes
        return any(
            new in running or old in changed or not roots.keys() >= set(uses.queries(old))
            for new, old in carried.items()
        )


def plan_of(job: Job) -> Exec:
    """The plan of a query as its parts run."""
    running = job.running
    if isinstance(running, ChangesExec | SnapshotExec):
        return running.child
    return running


def _resumed(name: str, plan: Exec) -> Migration:
    split = max(place.split for place in hand_overs(plan))
    return Migration(name, _old(plan), _new(plan).with_eager(False), split, plan, started=0)


def _old(plan: Exec) -> Exec:
    """The plan without what is new."""
    return substituted(plan, {place: place.old for place in hand_overs(plan)})


def _new(plan: Exec) -> Exec:
    """The plan without what is old."""
    return substituted(plan, {place: place.new for place in hand_overs(plan)})


def _nothing_goes_on(old: Exec, new: Exec) -> bool:
    return False


def _changing(parts: Mapping[Exec, Exec]) -> dict[Exec, Exec]:
    return {old: new for old, new in parts.items() if old != new}


def _reversed(parts: Mapping[Exec, Exec]) -> dict[Exec, Exec]:
    return {new: old for old, new in parts.items()}


def _in_two_ways(name: str) -> TidemillError:
    return ExecutionError(
        f"parts of the new plan of `{name}` run in two ways already",
        help="try again when fewer queries share them",
    )


def _other_columns(name: str, old: Exec, new: Exec) -> TidemillError:
    columns = ", ".join(f"{field.name} {field.type}" for field in old.schema)
    found = ", ".join(f"{field.name} {field.type}" for field in new.schema)
    return PlanError(
        f"the query `{name}` has the columns {columns}; the new plan has {found}",
        help="give the new columns these names and types, or start another query",
    )


def _never(name: str) -> TidemillError:
    return PlanError(
        f"the query `{name}` cannot continue with this plan: it needs rows that came before",
        help="windows over rows, and unbounded ones, keep rows for ever: let the new plan have the "
        "same ones, over the same rows, or start another query with partial=True beside it",
    )
