"""SQL and commands in colour, while they are typed."""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from tidemill.shell.words import FUNCTIONS, KEYWORDS, TYPES

STYLE = Style.from_dict(
    {
        # Colours of the terminal itself, so that they suit a light one and a dark one.
        "keyword": "ansiblue bold",
        "function": "ansicyan",
        "string": "ansigreen",
        "number": "ansimagenta",
        "comment": "ansibrightblack italic",
        "command": "ansiyellow bold",
        "prompt": "ansicyan bold",
        "continuation": "ansibrightblack",
    }
)

_TOKENS = re.compile(
    r"""
    (?P<command>\A\s*\\[\w?]+)
  | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<string>'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z))
  | (?P<quoted>`[^`]*(?:`|\Z))
  | (?P<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)
  | (?P<word>\b[A-Za-z_]\w*)
  | (?P<other>\s+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = dict.fromkeys((*KEYWORDS, *TYPES), "class:keyword") | dict.fromkeys(
    FUNCTIONS, "class:function"
)


def coloured(text: str) -> StyleAndTextTuples:
    """The parts of a text with their styles, whole or not.

    >>> coloured("SELECT 1")
    [('class:keyword', 'SELECT'), ('', ' '), ('class:number', '1')]
    """
    return [(_style(found), found[0]) for found in _TOKENS.finditer(text)]


def _style(found: re.Match[str]) -> str:
    if found.lastgroup == "word":
        return _WORDS.get(found[0].upper(), "")
    plain = found.lastgroup in ("other", "quoted")
    return "" if plain else f"class:{found.lastgroup}"


class SqlLexer(Lexer):
    """Colours the words of the language."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """A function that gives the parts of a line."""
        lines = list(split_lines(coloured(document.text)))
        return lambda number: lines[number] if number < len(lines) else []
