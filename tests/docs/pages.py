"""Pages of documentation whose examples run, and whose outputs are real.

A ```python block runs in a namespace that the page shares; what it prints is the ```text block
behind it. With `>>>` it is a doctest. A ```sql block runs in the page's `engine`; the text behind
it is its table, its warnings or its error. A ```console block calls the command line. In a
```shell block, what stands behind the prompt is typed, and the rest is what the shell answers.
Where a block speaks of a server on this machine, there is one.
"""

import contextlib
import doctest
import io
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console
from typer.testing import CliRunner

import tidemill as tm
from tests.serving import served
from tidemill.cli import app
from tidemill.shell import EmbeddedBackend, Printer
from tidemill.shell import Session as ShellSession
from tidemill.shell.repl import PROMPT
from tidemill.sql import QueryStatement, Telling, parse
from tidemill.terminal.tables import rich_table

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Those need a server: they run in tests/connectors, which have one.
RUNNABLE = [page for page in PAGES if page.name not in ("kafka.md", "postgres.md")]
LANGUAGES = {"python", "sql", "console", "shell"}
SERVER = "http://127.0.0.1:8321"

CONTINUATION = "...> ".rjust(len(PROMPT))
_PROMPT = re.compile(rf"^{PROMPT}(.*(?:\n{re.escape(CONTINUATION)}.*)*)", re.MULTILINE)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, line, and where its text stands in the page."""

    language: str
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """A block that runs, and the block that shows its output, if any."""

    block: Block
    output: Block | None


def examples(page: str) -> Iterator[Example]:
    found = list(_FENCE.finditer(page))
    blocks = [Block(m[1], m[2], page.count("\n", 0, m.start()) + 1, *m.span(2)) for m in found]
    for index, block in enumerate(blocks):
        if block.language in LANGUAGES:
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            yield Example(block, following if _shows(page, block, following) else None)


def _shows(page: str, block: Block, following: Block | None) -> bool:
    if following is None or following.language != "text":
        return False
    return page[block.end : following.start].split() == ["```", "```text"]


class Session:
    """What the examples of one page share."""

    def __init__(self, width: int = 100) -> None:
        self.width = width
        self.names: dict[str, Any] = {"__name__": "example"}
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *reason: object) -> None:
        self._opened.close()

    def run(self, block: Block) -> str:
        """The output of a block."""
        kinds = {
            "python": self._python,
            "sql": self._sql,
            "console": self._console,
            "shell": self._shell,
        }
        return kinds[block.language](replace(block, text=self._with_server(block.text)))

    def _with_server(self, text: str) -> str:
        """The text with the address of a server that is there."""
        return text.replace(SERVER, self._server) if SERVER in text else text

    @cached_property
    def _server(self) -> str:
        return self._opened.enter_context(served())

    @cached_property
    def _backend(self) -> EmbeddedBackend:
        return self._opened.enter_context(contextlib.closing(EmbeddedBackend()))

    def _shell(self, block: Block) -> str:
        """The conversation, with the answers that come."""
        seen = io.StringIO()
        shell = ShellSession(self._backend, Printer(seen, seen))
        for typed in _PROMPT.findall(block.text):
            seen.write(f"{PROMPT}{typed}\n")
            shell.run(typed.replace(CONTINUATION, ""))
        return _trimmed(seen.getvalue())

    def _python(self, block: Block) -> str:
        if ">>>" in block.text:
            return self._doctest(block)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.text, f"line {block.line}", "exec"), self.names)
        return _trimmed(out.getvalue())

    def _doctest(self, block: Block) -> str:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, "page", None, block.line)
        out = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=out.write, clear_globs=False)
        assert not runner.failures, out.getvalue()
        self.names.update(test.globs)
        return ""

    def _sql(self, block: Block) -> str:
        engine: tm.Engine = self.names.setdefault("engine", tm.Engine(runtime="inprocess"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                query = engine.sql(block.text.rstrip())
                table = "" if query is None else table_text(query, self.width)
                for statement in parse(block.text)[:-1]:
                    if isinstance(statement, QueryStatement | Telling):
                        table_text(engine.sql(statement.sql))
            except tm.TidemillError as error:
                return _trimmed(str(error))
        return _trimmed("\n".join([*(str(warning.message) for warning in caught), table]))

    def _console(self, block: Block) -> str:
        command, _, _ = block.text.partition("\n")
        words = shlex.split(command.removeprefix("$ "))
        if words[0] != "tidemill":
            return _trimmed(block.text.partition("\n")[2])
        result = CliRunner().invoke(app, words[1:], terminal_width=100)
        return _trimmed(result.stdout)


def table_text(query: tm.Query, width: int = 100) -> str:
    """The answer as the documentation prints it."""
    table = query.collect()
    if not table.num_rows:
        return "no rows"
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(rich_table(table, plain=True))
    return out.getvalue()


def expected(example: Example) -> str | None:
    """The output that the page shows."""
    if example.block.language == "console":
        return _trimmed(example.block.text.partition("\n")[2])
    if example.block.language == "shell":
        return _trimmed(example.block.text)
    return None if example.output is None else _trimmed(example.output.text)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
