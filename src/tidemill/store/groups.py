"""Group commit: who comes while others are being written down is written down with the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class GroupCommit(Generic[Item, Result]):
    """Calls `commit` with all items that wait, one call at a time; it returns a result for each.

    >>> group = GroupCommit(lambda items: [item * item for item in items])
    >>> group.add(2), group.add(3)
    (4, 9)
    """

    def __init__(self, commit: Callable[[Sequence[Item]], Sequence[Result]]) -> None:
        self._commit = commit
        self._waiting: list[tuple[Item, Future[Result]]] = []
        self._adding = Lock()
        self.turn = Lock()
        """Whoever holds it commits, or keeps others from it."""

    def add(self, item: Item) -> Result:
        """Come back when the item is committed."""
        done: Future[Result] = Future()
        with self._adding:
            self._waiting.append((item, done))
        with self.turn:
            if not done.done():
                self._commit_all()
        return done.result()

    def _commit_all(self) -> None:
        with self._adding:
            group, self._waiting = self._waiting, []
        try:
            results = self._commit([item for item, _ in group])
        except BaseException as error:
            for _, done in group:
                done.set_exception(error)
            return
        for (_, done), result in zip(group, results, strict=True):
            done.set_result(result)
