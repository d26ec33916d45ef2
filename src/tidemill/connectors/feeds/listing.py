"""Which files there are: in a folder and the folders in it, by a pattern, or a single one."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from fnmatch import fnmatchcase
from glob import has_magic, iglob
from typing import NamedTuple

from pyarrow import fs

from tidemill.connectors.feeds.opening import below, file_system, is_local, local_path
from tidemill.errors import ExecutionError


class Found(NamedTuple):
    """A file: they are taken in the order of these."""

    modified: int
    path: str
    size: int


def new_files(path: str, known: Container[str], filter: str | None = None) -> list[Found]:
    """The files at a path that are not known yet, the oldest first.

    Names that begin with `.` or `_` are nobody's business, and files without bytes are still
    being written.
    """
    found = _local(local_path(path), known) if is_local(path) else _remote(path, known)
    wanted = (
        each
        for each in found
        if each.size and (filter is None or fnmatchcase(os.path.basename(each.path), filter))
    )
    return sorted(wanted)


def _local(path: str, known: Container[str]) -> Iterator[Found]:
    if not has_magic(path) or os.path.lexists(path):
        yield from _at(path, known)
        return
    # Only what a pattern leaves open may be hidden.
    fixed = next(n for n, part in enumerate(path.split(os.sep)) if has_magic(part))
    met: set[str] = set()  # a pattern may meet a file twice: by its folder and by itself
    for place in iglob(path, recursive=True):
        if not any(map(_is_hidden, place.split(os.sep)[fixed:])):
            for found in _at(place.rstrip(os.sep), known):
                if found.path not in met:
                    met.add(found.path)
                    yield found


def _at(path: str, known: Container[str]) -> Iterator[Found]:
    if path in known:
        return
    if os.path.isdir(path):
        yield from _in_folder(path, known)
    elif (found := _found(path)) is not None:
        yield found


def _in_folder(folder: str, known: Container[str]) -> Iterator[Found]:
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:  # it was there a moment ago
        return
    with entries:
        for entry in entries:
            # Nothing is asked of a file that is known: this goes over all files at each poll.
            if entry.path in known or _is_hidden(entry.name):
                continue
            if entry.is_dir():
                yield from _in_folder(entry.path, known)
            elif (found := _found(entry.path)) is not None:
                yield found


def _found(path: str) -> Found | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:  # it was there a moment ago
        return None
    return Found(status.st_mtime_ns, path, status.st_size)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _remote(uri: str, known: Container[str]) -> Iterator[Found]:
    if "*" in uri:
        help = "name a folder: the files in it, and in the folders in it, are read"
        raise ExecutionError(f"patterns are for paths of this machine, not for {uri}", help=help)
    system, root = file_system(uri)
    info = system.get_file_info(root)
    if info.type == fs.FileType.File:
        infos = [info]
    else:
        infos = system.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
    for each in infos:
        inside = each.path[len(root) :].strip("/")
        hidden = any(map(_is_hidden, inside.split("/"))) if inside else False
        place = below(uri, inside) if inside else uri
        if each.type == fs.FileType.File and not hidden and place not in known:
            yield Found(each.mtime_ns or 0, place, each.size or 0)
