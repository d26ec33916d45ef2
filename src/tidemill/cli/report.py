"""Errors and warnings on the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from tidemill import PlanWarning, TidemillError

_INTERRUPTED = 130  # what shells expect of a command that Ctrl-C has ended


def diagnostic(message: TidemillError | PlanWarning) -> Text:
    """An error or warning in colour: what, where, and the remedy."""
    colour = "red" if isinstance(message, TidemillError) else "yellow"
    text = Text()
    for line in str(message).split("\n"):
        text.append_text(_line(line, colour)).append("\n")
    text.rstrip()
    return text


def _line(line: str, colour: str) -> Text:
    label, colon, rest = line.partition(":")
    if label in ("error", "warning"):
        return Text.assemble((label + colon, f"bold {colour}"), (rest, "bold"))
    if label == "help":
        return Text.assemble((label + colon, "bold cyan"), rest)
    if line.strip() and not line.strip("\t ^"):
        return Text(line, style=f"bold {colour}")
    return Text(line, style="dim" if line.startswith("  line ") else "")


@contextmanager
def reported(console: Console) -> Iterator[None]:
    """Show the warnings of a block; turn its error into a message and exit code 1.

    Ctrl-C ends it without a message.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PlanWarning)
            try:
                yield
            finally:
                _show_warnings(console, caught)
    except TidemillError as error:
        show(console, error)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(_INTERRUPTED) from None


def _show_warnings(console: Console, caught: list[warnings.WarningMessage]) -> None:
    for warning in caught:
        if isinstance(warning.message, PlanWarning):
            show(console, warning.message)


def show(console: Console, message: TidemillError | PlanWarning) -> None:
    """Print an error or warning; long lines stay whole, so that the caret keeps its place."""
    console.print(diagnostic(message), soft_wrap=True, highlight=False)
