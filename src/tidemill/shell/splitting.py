"""From what is typed, or stands in a script, to statements and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SKIPPED = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*` | ;""",
    re.VERBOSE | re.DOTALL,
)
_OPENED = re.compile(r"/\*|['\"`]")
_COMMENTS = re.compile(r"\s+|--[^\n]*|/\*.*?\*/", re.DOTALL)
_LONG_COMMAND = re.compile(r"\s*\\(explain|watch|push)\s")
_WORD_COMMAND = re.compile(r"(exit|quit|help)[ \t]*;?[ \t]*(?=\n|$)", re.IGNORECASE)
"""Words that people type in any shell; nothing in SQL is one of them alone."""

_NAME = re.compile(r"(\w+)|`([^`]+)`")


@dataclass(frozen=True)
class Piece:
    """A statement or command; blanks in front of it keep its place in the whole text."""

    text: str

    @property
    def is_command(self) -> bool:
        """Whether it is for the shell, and not for the engine."""
        return _is_command(self.text.lstrip(), 0)


def pieces(text: str) -> Iterator[Piece]:
    """The statements and commands of a script, in their order.

    >>> [piece.text.strip() for piece in pieces("SELECT ';' AS a; \\\\d bid\\nSELECT 2")]
    ["SELECT ';' AS a", '\\\\d bid', 'SELECT 2']
    """
    start = 0
    while (start := _first(text, start)) < len(text):
        end = _line_end(text, start) if _is_command(text, start) else _statement_end(text, start)
        blank = re.sub(r"[^\n]", " ", text[:start])
        yield Piece(blank + text[start:end].rstrip())
        start = end + 1


def typed_pieces(text: str) -> Iterator[Piece]:
    """The same of what was typed, where a command that takes a query or rows may have many lines.

    >>> [piece.text for piece in typed_pieces("\\\\explain SELECT a\\nFROM s")]
    ['\\\\explain SELECT a\\nFROM s']
    """
    yield from [Piece(text)] if _LONG_COMMAND.match(text) else pieces(text)


def is_complete(text: str) -> bool:
    """Whether what was typed can be run: a command, or statements up to a semicolon.

    >>> is_complete("SELECT 1"), is_complete("SELECT 1;"), is_complete("SELECT ';"), is_complete("")
    (False, True, False, True)
    >>> is_complete("exit"), is_complete("help me")
    (True, False)
    """
    start = _first(text, 0)
    while start < len(text) and not _is_command(text, start):
        end = _statement_end(text, start)
        if end >= len(text):
            return False
        start = _first(text, end + 1)
    return True


def last_statement(text: str) -> str:
    """What stands after the last semicolon.

    >>> last_statement("SELECT ';'; SELECT a")
    ' SELECT a'
    """
    start = 0
    while (end := _statement_end(text, start)) < len(text):
        start = end + 1
    return text[start:]


def name_in(text: str) -> str | None:
    """The name that a text is, if it is one and no SELECT.

    >>> name_in("hot"), name_in("`my query`"), name_in("SELECT a FROM s")
    ('hot', 'my query', None)
    """
    found = _NAME.fullmatch(text)
    return found and (found[1] or found[2])


def _is_command(text: str, start: int) -> bool:
    return text.startswith("\\", start) or _WORD_COMMAND.match(text, start) is not None


def _first(text: str, start: int) -> int:
    """Where the next statement begins, after blanks and comments."""
    while (found := _COMMENTS.match(text, start)) or text[start : start + 1] == ";":
        start = found.end() if found else start + 1
    return start


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _statement_end(text: str, start: int) -> int:
    """The semicolon after a statement, or the end of the text."""
    while True:
        found = _SKIPPED.search(text, start)
        opened = _OPENED.search(text, start)
        if found is None or (opened is not None and opened.start() < found.start()):
            return len(text)  # a text or comment that is not closed yet
        if found[0] == ";":
            return found.start()
        start = found.end()
