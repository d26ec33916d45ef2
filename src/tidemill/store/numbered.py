"""Numbered files in a folder: a file that is missing is noticed, the last one too."""

from __future__ import annotations

import pyarrow as pa

from tidemill.errors import DamageError
from tidemill.store.disk import Part
from tidemill.store.store import MARK, Store


class Numbered:
    """Files of one kind, whose numbers have no gaps unless they are `sparse`.

    An empty file beside them has the number of the last one in its name. It is renamed right after
    a file was added, so that one sync of the folder is enough for both. Those that `keep_last` are
    never removed all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = Numbered(Store(folder), "ticks", ".done")
    ...     size = [files.put(number, b"tick") for number in range(4)]
    ...     files.remove_before(2)
    ...     Numbered(Store(folder), "ticks", ".done").numbers
    [2, 3]
    """

    def __init__(
        self, store: Store, folder: str, suffix: str, sparse: bool = False, keep_last: bool = False
    ) -> None:
        self._store = store
        self._folder = folder
        self._suffix = suffix
        self._mark = f"{suffix}{MARK}"
        store.hold(folder)
        names = store.names(folder)
        self.numbers = _numbers(names, suffix)
        marks = _numbers(names, self._mark)
        self._last = marks[-1] if marks else None
        self._check(sparse, keep_last)

    @property
    def next(self) -> int:
        """The number after the last one, also if that was removed."""
        return max([-1 if self._last is None else self._last, *self.numbers[-1:]]) + 1

    def put(self, number: int, *parts: Part, later: bool = False) -> int:
        """Add a file, or replace the last one; its size."""
        self.begin_at(number)  # or a crash would leave a file without a mark
        assert self._last is not None
        old, mark = (self._name(each, self._mark) for each in (self._last, number))
        moves = (old, mark) if old != mark else None
        size = self._store.put(self.file(number), *parts, later=later, mark=moves)
        if number not in self.numbers:
            self.numbers.append(number)
        self._last = number
        return size

    def begin_at(self, number: int) -> None:
        """Let the first file have this number, if there was none yet."""
        if self._last is None:
            self._store.make(self._folder)
            self._store.move_mark(None, self._name(number - 1, self._mark))
            self._last = number - 1

    def get(self, number: int) -> bytes:
        return self._store.get(self.file(number))

    def buffer(self, number: int) -> pa.Buffer:
        return self._store.buffer(self.file(number))

    def remove_before(self, number: int) -> None:
        """Delete the files before a number."""
        if self.numbers and self._last is not None and self.numbers[-1] > self._last:
            # Who wrote it was killed before the mark was moved, and without it nothing tells.
            self._store.move_mark(
                *(self._name(n, self._mark) for n in (self._last, self.numbers[-1]))
            )
            self._last = self.numbers[-1]
        while self.numbers and self.numbers[0] < number:
            self._store.remove(self.file(self.numbers.pop(0)))

    def remove_from(self, number: int) -> None:
        """Delete the files from a number on, as if they had never been."""
        if self._last is not None and self._last >= number:
            before = max((n for n in self.numbers if n < number), default=number - 1)
            old, new = (self._name(n, self._mark) for n in (self._last, before))
            self._store.move_mark(old, new)
            self._last = before
        while self.numbers and self.numbers[-1] >= number:
            self._store.remove(self.file(self.numbers.pop()))

    def file(self, number: int) -> str:
        """The name of a file in the store."""
        return self._name(number, self._suffix)

    def _name(self, number: int, suffix: str) -> str:
        return f"{self._folder}/{number:012d}{suffix}"

    def _check(self, sparse: bool, keep_last: bool) -> None:
        if self.numbers and self._last is None:
            mark = self._store.path(self._name(self.numbers[-1], self._mark))
            raise DamageError(mark, "it is missing: it tells which file is the last one")
        if self._last is None or (not self.numbers and (self._last < 0 or not keep_last)):
            return
        # A file may be there before its mark is, and those before it may be gone.
        first = min([self._last + 1, *self.numbers[:1]]) if self.numbers else self._last
        is_ahead = bool(self.numbers) and self.numbers[-1] > self._last
        last = [] if is_ahead else [self._last]
        for number in last if sparse else range(first, self.next):
            if number not in self.numbers:
                raise DamageError(self._store.path(self.file(number)), "it is missing")


def _numbers(names: list[str], suffix: str) -> list[int]:
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if stem.removeprefix("-").isdecimal())
