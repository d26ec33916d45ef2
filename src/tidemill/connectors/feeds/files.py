"""Files that appear: each is a slice, read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock

from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds.feed import MOST_BYTES, Feed, within
from tidemill.connectors.feeds.file_log import FileLog
from tidemill.connectors.feeds.listing import new_files
from tidemill.connectors.feeds.opening import folder_of, is_local, local_path, refuse_outside
from tidemill.connectors.feeds.options import refusal, texts
from tidemill.connectors.feeds.slices import FileSlice, OptionValue, Slice
from tidemill.errors import ExecutionError
from tidemill.store import Store

_MOST_FILES = 1000


class FilesFeed(Feed):
    """Files of a folder, a pattern or a single file, in the order in which they were found.

    If there are folders `within` which they have to be, links that lead out of these are refused.
    A `bounded` feed has the files that the first poll finds. With a store, files have the same
    numbers after a restart.
    """

    def __init__(
        self,
        name: str,
        format: str,
        path: str,
        options: Mapping[str, OptionValue] | None = None,
        store: Store | None = None,
        bounded: bool = False,
        within: tuple[str, ...] = (),
    ) -> None:
        super().__init__(name)
        self._format = format.lower()
        self._path = local_path(path) if is_local(path) else path
        self._options = tuple(sorted(texts(options or {}).items()))
        self._bounded = bounded
        self._within = within
        self._log = FileLog(store, f"{folder_of(name)}/files")
        self._known = {path for path, _ in self._log.entries}
        self._looking = Lock()  # ticks look, and whoever tells how far time has come

    def poll(self) -> int:
        with self._looking:
            if not (self._bounded and self._log.ended):
                self._look()
            return len(self._log.entries)

    def slices(self, start: int, stop: int) -> list[Slice]:
        options, entries = self._reading, self._log.entries[start:stop]
        return [
            FileSlice(self._format, path, options, nbytes=size, within=self._within)
            for path, size in entries
        ]

    @property
    def ended_at(self) -> int | None:
        return len(self._log.entries) if self._bounded and self._log.ended else None

    def stop_for(self, start: int) -> int:
        limits = dict(self._options)
        files = int(limits.get("maxfilespertrigger", _MOST_FILES))
        most_bytes = int(limits.get("maxbytespertrigger", MOST_BYTES))
        if "maxfilespertrigger" in limits and "maxbytespertrigger" not in limits:
            return min(start + files, len(self._log.entries))
        return start + within(self.slices(start, start + files), files, most_bytes)

    @property
    def _reading(self) -> tuple[tuple[str, OptionValue], ...]:
        """The options for whoever reads a file."""
        listing = {"path", "maxfilespertrigger", "maxbytespertrigger", "pathglobfilter"}
        return tuple(pair for pair in self._options if pair[0] not in listing)

    def _look(self) -> None:
        try:
            found = new_files(self._path, self._known, dict(self._options).get("pathglobfilter"))
            for file in found if self._within else ():
                refuse_outside(os.path.realpath(file.path), file.path, self._within)
        except OSError as error:
            message = f"cannot look for files for `{self.name}` at {self._path}: {error}"
            raise ExecutionError(message, help="check the path option") from error
        if self._bounded and not found and not self._log.entries:
            help = "check the path option"
            raise ExecutionError(f"no files for `{self.name}` at {self._path}", help=help)
        if found or self._bounded:
            self._log.add([(file.path, file.size) for file in found], self._bounded)
            self._known.update(file.path for file in found)


def files_feed(
    info: SourceInfo,
    store: Store | None = None,
    bounded: bool = False,
    within: tuple[str, ...] = (),
) -> FilesFeed:
    """The files that a source was declared to have."""
    assert info.format is not None
    path = path_of(info)
    return FilesFeed(info.name, info.format, path, info.options, store, bounded, within)


def path_of(info: SourceInfo) -> str:
    """The path of the files of a source, if they can be read here."""
    format, options = str(info.format), info.options
    given = {name.lower(): value for name, value in options.items()}
    if (reason := refusal(format, options)) is not None:
        help = "without it, files are read here; with it, only by Spark"
        raise ExecutionError(f"`{info.name}` cannot be read here: {reason}", help=help)
    if not isinstance(path := given.get("path"), str):
        help = f"as in SOURCE {format}(path => 'folder/')"
        raise ExecutionError(f"`{info.name}` needs the option path", help=help)
    return path
