"""How a server begins: with what it is told, or with what it left behind."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.compose import read_plan
from tidemill.engine import Engine
from tidemill.engine.allow import AllowList
from tidemill.engine.kept import KeptStore
from tidemill.errors import TidemillError
from tidemill.server.persist import CatalogLog, Lasting, lasts
from tidemill.server.service import Service
from tidemill.server.settings import Settings
from tidemill.server.show.statements import quoted
from tidemill.sql import InsertInto, QueryStatement, Statement, parse, parse_one


def begin(settings: Settings, script: str | None = None) -> Service:
    """A service whose queries run: those of a script, or, after a restart, those that ran before.

    Whoever starts a server is trusted with every source and sink; its clients are not.
    """
    log = None if settings.folder is None else CatalogLog(settings.folder)
    told = log is None or log.is_new
    statements = list(_named(parse(script or ""))) if told or log is None else log.read()
    left = Lasting(filter(lasts, statements))
    engine = make_engine(settings)
    engine.prepare(quietly=True)  # while it is told what there is
    for statement in left.made:
        engine.execute(statement)
    folder = None if settings.folder is None else str(settings.folder / "graph")
    engine.run(checkpoint=folder, every=None, late=settings.late)
    service = Service(engine, settings, log)
    _start(service, left, strictly=told)
    if log is not None:
        log.replace(left.texts())
    engine.allow = AllowList.of(settings.allow)
    service.goes_on = not told
    return service


def make_engine(settings: Settings) -> Engine:
    """An engine as a server needs it: it keeps the answers of queries."""
    results = None if settings.folder is None else settings.folder / "results"
    engine = Engine(
        runtime=settings.runtime,
        memory=settings.memory,
        cpu=settings.cpu,
        keep=KeptStore(settings.limits.kept_rows, results),
    )
    engine.plans = read_plan
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
        yield parse_one(f"CREATE QUERY q{number} AS\n{statement.sql}")
        yield parse_one(f"START QUERY q{number}")


def _start(service: Service, left: Lasting, strictly: bool) -> None:
    """Let queries go on; one that cannot is told of, and does not keep the others from it."""
    with service.graph.together():
        for start in left.running.values():
            try:
                _start_one(service, left, start.name, start)
            except TidemillError as error:
                if strictly:
                    raise
                tick = service.graph.graph.run.ticks
                service.events.add("fail", start.name, f"not started: {error.message}", tick)
    # A crash may have come between the start of a query and the note of it.
    service.graph.graph.let_go()


def _start_one(service: Service, left: Lasting, name: str, start: Statement) -> None:
    """A crash may have come in the middle of a change: then the checkpoint knows the query by
    its definition from before."""
    engine, definitions = service.engine, left.definitions(name)
    try:
        engine.execute(start)
    except TidemillError as error:
        for sql in definitions[1:]:
            engine.execute(parse_one(f"ALTER QUERY {quoted(name)} AS\n{sql}"))
            try:
                engine.execute(start)
            except TidemillError:
                continue
            left.made.append(parse_one(f"ALTER QUERY {quoted(name)} AS\n{sql}"))
            return
        raise error
