"""What could come next at the cursor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from tidemill.explain import Level
from tidemill.shell.backend import Named
from tidemill.shell.commands import COMMANDS
from tidemill.shell.splitting import last_statement
from tidemill.shell.tables_in import aliases
from tidemill.shell.words import FUNCTIONS, KEYWORDS, TYPES
from tidemill.terminal.tables import Format

_WORD = re.compile(r"[A-Za-z_]\w*$|$")
_COMMAND = re.compile(r"\A\s*\\([\w?]*)(\s+.*)?\Z", re.DOTALL)
_OF = re.compile(r"([A-Za-z_]\w*)\.\w*$")
_QUERY = re.compile(r"\b(START|STOP|DROP|ALTER)\s+QUERY\s+\w*$", re.IGNORECASE)
_SOURCE = re.compile(r"\b(FROM|JOIN|(DROP|DELETE)\s+\w+|INSERT\s+INTO)\s+\w*$", re.IGNORECASE)

Candidate = tuple[str, str]
"""A text, and what it is."""


class SqlCompleter(Completer):
    """Completes keywords, names, columns and commands; `names` are those known now."""

    def __init__(self, names: Callable[[], Sequence[Named]]) -> None:
        self._names = names
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        """What could come next."""
        before = document.text_before_cursor
        command = _COMMAND.match(before)
        if command is not None and command[1] in ("i", "push") and command[2]:
            path = command[2].lstrip() if command[1] == "i" else _second(command[2])
            if path is not None:
                yield from self._paths.get_completions(Document(path), event)
                return
        found = _WORD.search(before)
        word = found[0] if found else ""
        candidates = self._candidates(document, command)
        yield from _matching(word, candidates, always=before.endswith((".", "\\")))

    def _candidates(self, document: Document, command: re.Match[str] | None) -> list[Candidate]:
        names = self._names()
        if command is None:
            return list(self._in_statement(document, names))
        if command[2] is None:
            return [(each.name, each.summary) for each in COMMANDS]
        return list(self._in_command(command[1], command[2], document, names))

    def _in_command(
        self, name: str, rest: str, document: Document, names: Sequence[Named]
    ) -> Iterator[Candidate]:
        queries = [named for named in names if named.is_query]
        first = len(rest.split()) <= 1 and not rest[1:].endswith(" ")
        if name == "format":
            yield from ((each.value, "") for each in Format)
        elif name == "d":
            yield from _named(names)
        elif name == "push":
            yield from _named([named for named in names if named.pushed])
        elif name in ("watch", "explain") and first:
            yield from _named(queries)
            yield from [("SELECT", "")]
            yield from ((each.value, "level") for each in Level if name == "explain")
        elif name in ("watch", "explain"):
            yield from self._in_statement(document, names)

    @staticmethod
    def _in_statement(document: Document, names: Sequence[Named]) -> Iterator[Candidate]:
        before = last_statement(document.text_before_cursor)
        sources = [named for named in names if not named.is_query]
        known = aliases(before + document.text_after_cursor, sources)
        if of := _OF.search(before):
            source = known.get(of[1].casefold())
            yield from () if source is None else _columns(source)
        elif _QUERY.search(before):
            yield from _named([named for named in names if named.is_query])
        elif _SOURCE.search(before):
            yield from _named(sources)
        else:
            # Before there is a FROM, a column of any source may be meant.
            for source in {id(each): each for each in (known.values() or sources)}.values():
                yield from _columns(source)
            yield from _named(sources)
            yield from ((word, "") for word in (*KEYWORDS, *TYPES))
            yield from ((word, "function") for word in FUNCTIONS)


def _second(rest: str) -> str | None:
    """The second argument of a command, if the cursor is there."""
    words = rest.lstrip().split(None, 1)
    if len(words) == 2:
        return words[1]
    return "" if words and rest.endswith(" ") else None


def _named(names: Iterable[Named]) -> Iterator[Candidate]:
    yield from ((named.name, f"{named.kind} {named.state}".rstrip()) for named in names)


def _columns(source: Named) -> Iterator[Candidate]:
    yield from ((each.name, f"{each.type} of {source.name}") for each in source.columns)


def _matching(word: str, candidates: Iterable[Candidate], always: bool) -> Iterator[Completion]:
    """Candidates that go on as the word begins; keywords in the case in which one types."""
    if not word and not always:
        candidates = [each for each in candidates if each[1]]
    seen = set()
    for text, meaning in candidates:
        shown = text.lower() if word.islower() and text.isupper() else text
        if text.casefold().startswith(word.casefold()) and shown not in seen:
            seen.add(shown)
            yield Completion(shown, -len(word), display_meta=meaning)
