"""How a server begins: with what it is told, or with what it left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidemill.compose import read_plan
from tidemill.deadline import TickLimits
from tidemill.engine import Engine
from tidemill.engine.allow import AllowList
from tidemill.engine.kept import KeptStore
from tidemill.errors import DamageError, TidemillError
from tidemill.server.differences import FileDifference, apply_order, difference
from tidemill.server.keeping import execute, execute_together
from tidemill.server.persist import CatalogLog, Lasting, lasts
from tidemill.server.service import Service
from tidemill.server.settings import Settings
from tidemill.sql import (
    DeleteFrom,
    InsertInto,
    InsertValues,
    QueryStatement,
    Statement,
    parse,
)
from tidemill.sql.building import alter_query, create_query, start_query

Tell = Callable[[str], None]
"""Takes note of how far a server has come."""


def begin(
    settings: Settings, script: str | None = None, tell: Tell = lambda how_far: None
) -> Service:
    """A service whose queries run: those of a script, or, after a restart, those that ran before.

    Whoever starts a server is trusted with every source and sink; its clients are not.
    """
    log = None if settings.folder is None else CatalogLog(settings.folder, settings.durability)
    try:
        return _begun(settings, log, script, tell)
    except BaseException:
        if log is not None:
            log.close()
        raise


def _begun(settings: Settings, log: CatalogLog | None, script: str | None, tell: Tell) -> Service:
    told = log is None or log.is_new
    if log is not None and told:
        log.begin()
    tell("reading what there is")
    statements = list(_named(parse(script or ""))) if told or log is None else log.read()
    left = Lasting(each for each in statements if lasts(each) or _changes_rows(each))
    differs = FileDifference()
    if script is not None and not told:
        differs = _compared(script, statements, settings.apply)
    engine = make_engine(settings, log)
    try:
        return _service(engine, settings, log, left, told, differs, tell)
    except BaseException:
        engine.close()
        raise


def _service(
    engine: Engine,
    settings: Settings,
    log: CatalogLog | None,
    left: Lasting,
    told: bool,
    differs: FileDifference,
    tell: Tell,
) -> Service:
    engine.prepare(quietly=True)  # while it is told what there is
    for statement in left.lasting:
        engine.execute(statement)
    folder = None if settings.folder is None else str(settings.folder / "graph")
    engine.run(checkpoint=folder, every=None, late=settings.late)
    service = Service(engine, settings, log)
    _start(service, left, told, tell)
    if log is not None:
        log.replace(left.texts(), keep=True)
    service.differs = differs
    if settings.apply:
        _apply(service)
    engine.allow = AllowList.of(settings.allow)
    service.goes_on = not told
    return service


def _compared(script: str, found: list[Statement], strictly: bool) -> FileDifference:
    """How a file differs; one with mistakes does not keep from going on what runs."""
    try:
        return difference(_named(parse(script)), found)
    except TidemillError as error:
        if strictly:
            raise
        return FileDifference(problem=f"it cannot be read: {error.message}")


def _apply(service: Service) -> None:
    """Bring what runs to what the file says; what cannot be changed stays as it is."""
    for first, *rest in apply_order(service.differs.steps):
        if rest:
            execute_together(service.engine, service.log, [first, *rest])
        else:
            execute(service.engine, service.log, first)


def _changes_rows(statement: Statement) -> bool:
    return isinstance(statement, InsertValues | DeleteFrom)


def make_engine(settings: Settings, log: CatalogLog | None = None) -> Engine:
    """An engine as a server needs it: it keeps the answers of queries, and relations."""
    results = None if settings.folder is None else settings.folder / "results"
    engine = Engine(
        runtime=settings.runtime,
        memory=settings.memory,
        cpu=settings.cpu,
        latency=settings.latency,
        partitions=settings.partitions,
        keep=KeptStore(settings.limits.kept_rows, results, settings.durability),
        durability=settings.durability,
        limits=TickLimits(settings.limits.tick_seconds, settings.limits.step_rows),
        plans=read_plan,
    )
    if log is not None:
        engine.keep_relations(log.store)
    engine.confine(AllowList.of(settings.allow))
    return engine


def _named(statements: list[Statement]) -> Iterator[Statement]:
    """Queries of a script that have no name get one, and run."""
    number = 0
    for statement in statements:
        if not isinstance(statement, QueryStatement | InsertInto):
            yield statement
            continue
        number += 1
        yield create_query(f"q{number}", statement)
        yield start_query(f"q{number}")


def _start(service: Service, left: Lasting, strictly: bool, tell: Tell) -> None:
    """Let queries go on; one that cannot is reported, and does not keep the others from it."""
    with service.graph.together():
        for number, start in enumerate(left.running.values()):
            tell(f"{number} of {len(left.running)} queries run again")
            try:
                _start_one(service, left, start.name, start)
            except TidemillError as error:
                if strictly or isinstance(error, DamageError):
                    raise
                tick = service.graph.ticks
                service.events.add("fail", start.name, f"not started: {error.message}", tick)
    # A crash may have come between the start of a query and the note of it.
    service.graph.let_go()


def _start_one(service: Service, left: Lasting, name: str, start: Statement) -> None:
    """A crash may have come in the middle of a change: then the checkpoint knows the query by
    its definition from before."""
    engine, definitions = service.engine, left.definitions(name)
    try:
        engine.execute(start)
    except TidemillError as error:
        for definition in definitions[1:]:
            alter = alter_query(name, definition)
            engine.execute(alter)
            try:
                engine.execute(start)
            except TidemillError:
                continue
            left.made.append(alter)
            return
        raise error
