"""Going back to the last point at which a durable folder is whole, and what is lost by that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tidemill.engine.folders.places import (
    ASIDE,
    CATALOG,
    RELATIONS,
    RESULTS,
    files_of,
    is_checked,
    is_server,
    refuse_others,
    run_of,
)
from tidemill.engine.folders.verify import check_file, verify
from tidemill.engine.kept import AnswerLog
from tidemill.engine.kept.log import LOST, KeptEntry
from tidemill.errors import DamageError, TidemillError
from tidemill.runtime.codec import AnyFunction
from tidemill.runtime.epochs import EpochLog
from tidemill.runtime.relation_log import RelationLog
from tidemill.runtime.state import StageState
from tidemill.runtime.ticks import Committed, TickLog
from tidemill.store import MARK, Store, ipc_file


def repair(folder: Path) -> list[str]:
    """Go back to the last whole point; what was done, and what is lost, in sentences."""
    refuse_others(folder)
    run = run_of(folder)
    store = Store(str(run), "machine")
    store.lock()
    try:
        if not verify(folder).damages:
            return []
        told = list(_server_repaired(folder)) if is_server(folder) else []
        return [*told, *_run_repaired(store, run), *_remaining(folder)]
    finally:
        store.close()


def _remaining(folder: Path) -> Iterator[str]:
    """What cannot be mended here is set aside with the whole run."""
    if not verify(folder).damages:
        return
    run = run_of(folder)
    aside = run.with_name(f"{run.name}{ASIDE}")
    if aside.exists():
        help = f"move it away: {aside}"
        raise TidemillError("an earlier repair has left something there", help=help)
    _set_aside(run, aside)
    yield (
        f"no tick of {run} is intact: it was moved to {aside}. All queries start empty; their "
        "state and the waiting rows are lost"
    )
    if is_server(folder) and (folder / RESULTS).exists():
        _answers_lost(folder)
        yield "the kept answers are lost, too"
    if damages := verify(folder).damages if (folder / CATALOG).exists() else []:
        raise TidemillError(str(damages[0]), help="this cannot be repaired: restore a backup")


def _set_aside(run: Path, aside: Path) -> None:
    aside.mkdir(mode=0o700)
    for each in list(run.iterdir()):
        if each.name != "lock":
            each.rename(aside / each.name)


# The folder of a server


def _server_repaired(folder: Path) -> Iterator[str]:
    store = Store(str(folder), "machine")
    yield from _catalog_repaired(store)
    for name in store.names(RELATIONS):
        yield from _relation_repaired(store, name)
    try:
        list(AnswerLog(str(folder / RESULTS)).entries())
    except DamageError as error:
        _answers_lost(folder)
        yield (
            f"{error.path}: {error.what}. All kept answers are lost; running queries collect them "
            "from their next change. To have all answers, start these queries again"
        )


def _answers_lost(folder: Path) -> None:
    Store(str(folder), "machine").remove_folder(RESULTS)
    AnswerLog(str(folder / RESULTS), "machine").replace([(LOST, KeptEntry(-1, anew=True), None)])


def _catalog_repaired(store: Store) -> Iterator[str]:
    try:
        content = store.get(CATALOG)
        if not _is_whole(Path(store.path(f"{CATALOG}.before"))):
            store.put(f"{CATALOG}.before", content)
            yield f"{CATALOG}.before was damaged, a copy that only repairs need: it was rewritten"
    except DamageError as error:
        try:
            before = store.get(f"{CATALOG}.before")
        except DamageError:
            help = "without its statements, a server cannot resume: restore a backup"
            raise TidemillError(error.message, help=help) from None
        store.put(CATALOG, before)
        yield (
            f"{error.path}: {error.what}. Its statements are now those of the last start of the "
            "server; what was created, started, stopped or dropped since is lost"
        )


def _relation_repaired(store: Store, name: str) -> Iterator[str]:
    folder = f"{RELATIONS}/{name}"
    lost = 0
    while True:
        try:
            RelationLog.at(store, folder).rows()
            break
        except DamageError as error:
            lost += 1
            yield f"{error.path}: {error.what}"
            _cut(store, folder, ".arrow", Path(error.path))
    if lost:
        yield f"the changes of the relation {name} from there on are lost"


def _cut(store: Store, folder: str, suffix: str, damaged: Path) -> None:
    """Let numbered files end before one that is damaged."""
    at = int(damaged.name.split(".")[0])
    names = store.names(folder)
    numbers = sorted(int(name.split(".")[0]) for name in names if name.endswith(suffix))
    kept = [number for number in numbers if number < at]
    for name in names:
        if name.endswith(MARK) or int(name.split(".")[0]) >= at:
            store.remove(f"{folder}/{name}")
    if kept:
        store.move_mark(None, f"{folder}/{kept[-1]:012d}{suffix}{MARK}")


# The checkpoint of a run


def _run_repaired(store: Store, run: Path) -> Iterator[str]:
    yield from _segments_repaired(run)
    ticks = _numbers(run, ".done")
    for tick in reversed(ticks):
        if (done := _whole_at(run, tick)) is not None:
            yield from _go_back(store, run, done, ticks[-1])
            return


def _numbers(run: Path, suffix: str) -> list[int]:
    return sorted(int(each.name.split(".")[0]) for each in (run / "ticks").glob(f"*{suffix}"))


def _whole_at(run: Path, tick: int) -> Committed | None:
    """What a tick has left, if all of it is there."""
    store = Store(str(run))
    try:
        done = TickLog.read(store, tick, AnyFunction())
        epoch = EpochLog(store, AnyFunction()).at(tick)
        if epoch is None or epoch.tick != done.epoch:
            return None
        for stage in epoch.staging.staged.stages:
            for partition in range(epoch.staging.partitions):
                state = StageState(store, stage.level, partition, "")
                base, rows = state.history(tick)
                for segment in (*([base] if base else []), *rows):
                    store.buffer(segment.name)
    except Exception:
        return None
    return done


def _go_back(store: Store, run: Path, done: Committed, newest: int) -> Iterator[str]:
    """Let a tick be the last one."""
    ticks, last, begun = run / "ticks", f"{done.tick:012d}.done", f"{done.tick + 1:012d}.begun"
    # A tick that has begun after it is done again as it was, unless more of them are lost.
    goes_on = done.tick == newest and (ticks / begun).exists() and _is_whole(ticks / begun)
    kept = {last, *([begun] if goes_on else [])}
    for file in list(ticks.iterdir()):
        if file.name not in kept:
            file.unlink()
    for name in kept:
        store.move_mark(None, f"ticks/{name}{MARK}")
    for file in files_of(run / "state"):
        if int(file.name.split(".")[0]) > done.tick:
            file.unlink()
    if done.tick < newest:
        yield (
            f"ticks {done.tick + 1} to {newest} are lost: queries go on after tick {done.tick}, "
            "and sinks that know the numbers of ticks may miss what comes now under these"
        )
    else:
        yield f"queries go on after tick {done.tick}, the last one"


def _segments_repaired(run: Path) -> Iterator[str]:
    """Rows that were pushed: a damaged file gives way to one without rows."""
    for folder in sorted(run.glob("feeds/*/pushed")):
        files = sorted(folder.glob("*.arrow"))
        damaged = [file for file in files if is_checked(run, file) and not _is_whole(file)]
        whole = [file for file in files if file not in damaged]
        for file in damaged:
            store = Store(str(run), "machine")
            name = str(file.relative_to(run))
            size = file.stat().st_size
            if not whole:
                _cut(store, str(folder.relative_to(run)), ".arrow", file)
            else:
                empty = store.get_table(str(whole[0].relative_to(run))).slice(0, 0)
                store.put(name, memoryview(ipc_file(pa.Table.from_batches([], empty.schema))))
            yield f"{file}: the rows of this push (a file of {size} bytes) are lost"


def _is_whole(file: Path) -> bool:
    try:
        check_file(file)
    except (DamageError, FileNotFoundError):
        return False
    return True
