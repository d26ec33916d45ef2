"""Opening files wherever they are: on this machine, or on any file system of Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pyarrow as pa
from pyarrow import fs

from tidemill.store import Store, local_disk, unsealed, whole_file


def is_local(path: str) -> bool:
    """Whether a path or URI is of this machine.

    >>> is_local("bids/"), is_local("file:///bids"), is_local("s3://bucket/bids")
    (True, True, False)
    """
    return "://" not in path or path.startswith("file://")


def local_path(path: str) -> str:
    """A path or URI of this machine as an absolute path.

    >>> local_path("file:///bids/a%20b.csv")
    '/bids/a b.csv'
    """
    return unquote(urlsplit(path).path) if "://" in path else os.path.abspath(path)


def file_system(uri: str) -> tuple[fs.FileSystem, str]:
    """The file system of a URI, and the path in it."""
    parts = urlsplit(uri)
    system, root = _system(urlunsplit(parts._replace(path="/")))
    return system, (root.rstrip("/") + unquote(parts.path)).rstrip("/")


@lru_cache(maxsize=32)
def _system(root: str) -> tuple[fs.FileSystem, str]:
    # Connections to object stores are expensive to make, and may be shared.
    system, path = fs.FileSystem.from_uri(root)
    return system, path


def opened(path: str) -> pa.NativeFile:
    """A file to read from any place in it; one of this machine is mapped into memory."""
    if not is_local(path):
        system, inside = file_system(path)
        return system.open_input_file(inside)
    with _held(local_path(path)) as place:
        # Nothing can be mapped of an empty file.
        return pa.memory_map(place) if os.path.getsize(place) else pa.BufferReader(b"")


@contextmanager
def confined(roots: Sequence[str]) -> Iterator[None]:
    """In this thread, open no file that is outside of some folders; none means anywhere."""
    token = _roots.set(tuple(roots))
    try:
        yield
    finally:
        _roots.reset(token)


_roots: ContextVar[tuple[str, ...]] = ContextVar("roots", default=())


@contextmanager
def _held(path: str) -> Iterator[str]:
    """A name for a file that leads to it, whatever becomes of links on the way."""
    roots = _roots.get()
    if not roots:
        yield path
        return
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        name = f"/proc/self/fd/{handle}"
        known = os.path.exists(name)
        refuse_outside(os.path.realpath(name if known else path), path, roots)
        yield name if known else os.path.realpath(path)
    finally:
        os.close(handle)


def refuse_outside(real: str, path: str, roots: Sequence[str]) -> None:
    """Fail if a file is in none of some folders; `path` is what leads there."""
    if not any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots):
        raise PermissionError(f"{path} leads outside the allowed folders")


def opened_stored(path: str) -> pa.NativeFile:
    """A file of a store to read from, after a look at its checksum."""
    if is_local(path):
        path = local_path(path)
        return pa.BufferReader(unsealed(path, whole_file(local_disk(), path)))
    with opened(path) as file:
        return pa.BufferReader(unsealed(path, file.read_buffer()))


def in_store(store: Store, name: str) -> str:
    """Where a file of a store is, for tasks on any machine."""
    return store.path(name) if store.is_local else below(store.uri, name)


def below(uri: str, inside: str) -> str:
    """The URI of a file in a folder.

    >>> below("s3://bucket/bids?region=eu-west-1", "a b.csv")
    's3://bucket/bids/a%20b.csv?region=eu-west-1'
    """
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{quote(inside)}"))


def folder_of(name: str) -> str:
    """The folder of a source in a store.

    >>> folder_of("Bid/EU")
    'feeds/bid%2Feu'
    """
    return f"feeds/{quote(name.casefold(), safe='')}"
