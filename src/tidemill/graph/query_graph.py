"""The queries of a running graph: they come, share what they have in common, change and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum

import pyarrow as pa

from tidemill.algebra.plan import nodes_of
from tidemill.errors import CatalogError, TidemillError
from tidemill.graph.join_inputs import RunningJoins, with_ordered_inputs
from tidemill.graph.missing import Missing
from tidemill.graph.normal import normal
from tidemill.graph.readings import with_readings
from tidemill.graph.uses import Uses
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.facts import NEVER
from tidemill.physical.operator import Exec
from tidemill.physical.operators.net_changes import ChangesExec
from tidemill.physical.operators.pick import PickExec
from tidemill.runtime.interface import Job, Restored, Root
from tidemill.runtime.progress import Progress
from tidemill.runtime.run import Run
from tidemill.timeline import BEGIN


class QueryState(Enum):
    """What a query is doing."""

    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass
class GraphQuery:
    """A query of the graph. Its answers are exact since `complete_from`.

    Before that instant it gives none, unless it is `partial`: then it answers at once, with what
    has come since it was added. Answers begin at `since`. Two queries with the same `meaning` ask
    for the same. When it is gone, `left` is how far it came, and what its sink `memory` held.
    """

    name: str
    job: Job
    complete_from: int = BEGIN
    partial: bool = False
    meaning: str = ""
    state: QueryState = QueryState.RUNNING
    since: int = BEGIN
    error: Exception | None = None
    left: tuple[Progress, pa.Table | None] | None = None
    _root: Root | None = None

    @property
    def root(self) -> Root:
        """The query as the runtime sees it: the same object while nothing changes."""
        if self._root is None or self._root.job is not self.job:
            self._root = Root(self.job, self.since)
        return self._root


Hook = Callable[[], None]

Gate = Callable[[str, Job], Job]
"""What a query passes before it is added: it may be changed, or refused."""

Sizes = tuple[tuple[int, int], ...]
"""The sizes of a knob, each with the instant since which rows have it."""

Carried = Mapping[Exec, Exec]
"""For parts of plans, the parts in whose place they go on."""


class QueryGraph:
    """All queries that run together. Changes take effect between two ticks.

    If it is not open, the queries that it begins with are all, and run as they were planned: a
    checkpoint has to know them. The `sizes` are those that were set, by knob, as far back as
    somebody may ask for them: plans know only those that rows to come can still have.
    """

    def __init__(self, run: Run, is_open: bool = True) -> None:
        self.run = run
        self._is_open = is_open
        self.queries: dict[str, GraphQuery] = {}
        self.lock = run.lock
        self.gates: list[Gate] = []
        self.after_revision: list[Callable[[Carried], None]] = []
        self.after_refusal: list[Hook] = []
        self._hooks: list[Hook] = []
        self._carried: dict[Exec, Exec] = {}
        self._lacking: dict[Exec, int] = {}
        self._took_over: dict[Exec, int] = {}
        self._joins = RunningJoins()
        self._uses = Uses()
        self._changing = 0
        self.sizes: Mapping[str, Sizes] = {}
        self._left: set[str] = set()
        if run.restored is not None:
            self._restore(run.restored)
        run.after_tick = self._after_tick

    def _restore(self, restored: Restored) -> None:
        """Take up the queries of a checkpoint. They wait to be started again, under their names."""
        self._lacking, self._took_over, facts, *sizes = restored.notes
        self.sizes = sizes[0] if sizes else {}
        for name, root in restored.roots.items():
            complete_from, partial, meaning = facts[name]
            self.queries[name] = GraphQuery(
                name, root.job, complete_from, partial, meaning, since=root.since
            )
        self._left = set(self.queries)

    def add(self, name: str, job: Job, partial: bool = False, meaning: str = "") -> GraphQuery:
        """Let a query run from the next tick on.

        One that a checkpoint knows under that name goes on where it was, with the plan it had.
        """
        with self.lock:
            if name in self._left:
                return self._taken_up(name, job, meaning)
            if self.is_running(name):
                help = "choose another name, or stop it first"
                raise CatalogError(f"the query `{name}` is already running", help=help)
            if not self._is_open and self.run.restored is not None:
                raise _unknown(name, self.run.restored)
            self.finish()
            try:
                return self._added(name, job, partial, meaning)
            except (TidemillError, OSError):
                self.refuse()
                raise

    def refuse(self) -> None:
        """Undo preparations for a plan that does not come."""
        for hook in self.after_refusal:
            hook()

    def _added(self, name: str, job: Job, partial: bool, meaning: str) -> GraphQuery:
        if not isinstance(job.plan, PickExec):  # that is in the words of the graph already
            job = replace(job, plan=self.matched(job.plan))
        for gate in self.gates:
            job = gate(name, job)
        job = replace(job, plan=self._joins.adopted(job.plan))
        missing = self._missing()
        complete_from = missing.until(job.running)
        if complete_from == NEVER and not partial:
            raise _never(name)
        since = self._now(job) if partial else complete_from
        query = GraphQuery(name, job, complete_from, partial, meaning, since=since)
        self._lacking.update(missing.of_new_parts(query.root.running))
        self._joins.note(job.plan)
        before = self.queries if self._changing else dict(self.queries)
        self.queries[name] = query
        self._change(before)
        return query

    def _now(self, job: Job) -> int:
        """From when on a query that is not complete gives answers.

        A log of changes is not one that began earlier: that does not tell again what has come.
        """
        if not isinstance(job.running, ChangesExec):
            return BEGIN
        (child,) = job.running.children
        told = self.run.nodes.get(child)
        return BEGIN if told is None else told.watermark

    def _taken_up(self, name: str, job: Job, meaning: str) -> GraphQuery:
        query = self.queries[name]
        if query.meaning != meaning:
            raise CatalogError(
                f"the checkpoint has another query under the name `{name}`:\n{query.meaning}",
                help="choose another name; or start that query and change it with ALTER QUERY",
            )
        taken_up = replace(query.job, sink=job.sink)
        if taken_up.running != query.job.running:
            form = query.job.sink.form
            raise CatalogError(
                f"the query `{name}` of the checkpoint has the form {form}, not {job.sink.form}",
                help=f"start it with form={form!r}, or another query under another name",
            )
        query.job = taken_up
        self._left.discard(name)
        self._revise()
        self.finish()
        return query

    def finish(self) -> None:
        """Finish a tick that was begun, once the queries of a checkpoint have their sinks.

        What comes or changes before that would not know what the tick has brought. Where nothing
        does, it is the first of the ticks to come.
        """
        if self._is_open and not self._left and not self._changing:
            self.run.finish()

    def let_go(self) -> tuple[str, ...]:
        """Stop the queries of a checkpoint that were not started again; which ones."""
        with self.lock:
            left, self._left = tuple(sorted(self._left)), set()
            if left:
                self.run.finish()
                for name in left:
                    self._retire(self.queries[name], QueryState.STOPPED)
                self._revise()
            return left

    def let_all_go(self) -> None:
        """Take note that nothing runs any more; what is in a checkpoint stays."""
        with self.lock:
            for query in self.running.values():
                query.error = self.run.failures.get(query.name)
                self._retire(query, QueryState.FAILED if query.error else QueryState.STOPPED)

    def remove(self, name: str, state: QueryState = QueryState.STOPPED) -> GraphQuery:
        """Let a query go. What others need of it goes on."""
        with self.lock:
            self.finish()
            query = self.find(name)
            was, left = query.state, query.left
            self._retire(query, state)
            try:
                self._change(self.queries)
            except (TidemillError, OSError):
                query.state, query.left = was, left
                raise
            return query

    def forget(self, name: str) -> None:
        """Know nothing more of a query; one that runs is let go first."""
        with self.lock:
            if self.is_running(name):
                self.remove(name)
            self.queries.pop(name, None)

    def _retire(self, query: GraphQuery, state: QueryState) -> None:
        in_memory = query.job.sink.target == "memory"
        results = self.run.results(query.name) if in_memory else None
        query.left = (self.run.progress_of(query.name), results)
        query.state = state

    def find(self, name: str) -> GraphQuery:
        """A query by name."""
        if name not in self.queries:
            help = f"queries: {', '.join(self.queries) or 'none'}"
            raise CatalogError(f"there is no query `{name}` in the graph", help=help)
        return self.queries[name]

    def is_running(self, name: str) -> bool:
        """Whether a query of that name gives answers."""
        return name in self.queries and self.queries[name].state is QueryState.RUNNING

    @property
    def running(self) -> dict[str, GraphQuery]:
        """The queries that give answers."""
        return {n: query for n, query in self.queries.items() if query.state is QueryState.RUNNING}

    @property
    def uses(self) -> Uses:
        """All parts of the queries that give answers, and which queries use them."""
        self._uses.follow({name: query.root for name, query in self.running.items()})
        return self._uses

    def matched(self, plan: Exec, refills: bool = True) -> Exec:
        """A plan in the words of the graph, so that it shares what runs already; if it `refills`,
        it may rather read again what is still there of streams."""
        if not self._is_open:
            return plan
        words, nodes = with_ordered_inputs(normal(plan)), self.run.nodes
        again = self.run.refillable if refills else ()
        return with_readings(words, nodes, self._missing(), again, self.run.readings)

    def missed(self, plan: Exec) -> int:
        """Until when a plan that begins now does not give what one that always ran would give with
        what comes from now on: rows that have come count until then."""
        return Missing(self.run.nodes, self.run.came, self._lacking).until(plan)

    def _missing(self) -> Missing:
        return Missing(self.run.nodes, self.run.newest, self._lacking)

    def note_take_over(self, plan: Exec, at: int) -> None:
        """Take note that the answers before an instant were those of a plan that goes."""
        for node in nodes_of(plan):
            if isinstance(node, AdjustableExec):
                self._took_over[node] = max(at, self.took_over_at(node))

    def took_over_at(self, node: AdjustableExec) -> int:
        """Before which instant others were in the place of this node, which are gone."""
        return self._took_over.get(node, BEGIN)

    def replace(self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec]) -> None:
        """Let queries go on with other plans, or be complete since another instant."""
        with self.lock:
            self.finish()
            missing = self._missing()
            before = {name: self.find(name).job for name in roots}
            for name, root in roots.items():
                lacking = missing.of_new_parts(root.running).items()
                self._lacking.update({n: at for n, at in lacking if n not in carried})
                self._joins.note(root.job.plan)
                self.find(name).job = root.job
            # Before a tick was made, a part may go on in the place of one that did so itself.
            came = {new: self._carried.get(old, old) for new, old in carried.items()}
            self._carried.update(came)
            try:
                self._change(self.queries)
            except (TidemillError, OSError):
                for name, job in before.items():
                    self.find(name).job = job
                raise

    @property
    def is_whole(self) -> bool:
        """Whether no change is under way, and all queries of a checkpoint were started again."""
        return not (self._changing or self._left)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes at once: all of them take effect with the same tick."""
        with self.lock:
            self.finish()
            before = dict(self.queries)
            self._changing += 1
            try:
                yield
            finally:
                self._changing -= 1
                if not self._changing:
                    self._change(before)
                    self.finish()

    def _change(self, before: dict[str, GraphQuery]) -> None:
        """Let the queries run that there are now, or if that is refused, those from before."""
        try:
            self._revise()
        except (TidemillError, OSError):
            self.queries = before
            self._carried = {}
            raise

    def _revise(self) -> None:
        if self._changing:
            return
        carried, self._carried = self._carried, {}
        running = self.running
        roots = {name: query.root for name, query in running.items()}
        uses = self.uses
        self._lacking = _followed(self._lacking, carried, uses)
        self._took_over = _followed(self._took_over, carried, uses)
        self._joins.forget_all_but(uses)
        facts = {n: (q.complete_from, q.partial, q.meaning) for n, q in running.items()}
        self.run.revise(roots, carried, (self._lacking, self._took_over, facts, self.sizes))
        for hook in self.after_revision:
            hook(carried)

    def after_each_tick(self, hook: Hook) -> Callable[[], None]:
        """Call a function when a tick is done; returns how to stop that."""
        self._hooks.append(hook)
        return lambda: self._hooks.remove(hook)

    def _after_tick(self) -> None:
        with self.lock:
            self._let_failed_go()
            for hook in list(self._hooks):
                hook()

    def _let_failed_go(self) -> None:
        failed = {n: e for n, e in self.run.failures.items() if self.is_running(n)}
        if not failed:
            return
        for name, error in failed.items():
            self.queries[name].error = error
            self._retire(self.queries[name], QueryState.FAILED)
        self._revise()


def _followed(known: Mapping[Exec, int], carried: Carried, uses: Uses) -> dict[Exec, int]:
    """What is known of parts that are used, and of those in whose place they go on."""
    came = {new: known[old] for new, old in carried.items() if old in known}
    return {node: at for node, at in {**known, **came}.items() if node in uses}


def _unknown(name: str, restored: Restored) -> TidemillError:
    return CatalogError(
        f"the checkpoint does not know the query `{name}`: it has {', '.join(restored.roots)}",
        help="start the queries that it was made with, in their order, or choose another "
        "checkpoint; a query that has failed beside others cannot resume",
    )


def _never(name: str) -> TidemillError:
    return TidemillError(
        f"the query `{name}` would never be complete: it needs rows that came before it was added",
        help="windows over rows, and unbounded ones, keep rows for ever: start the query before "
        "the first rows come, or with partial=True to answer with what comes from now on",
    )
