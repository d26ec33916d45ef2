"""Errors and warnings, in colour."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tidemill.errors import PlanWarning, TidemillError


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


def show(console: Console, message: TidemillError | PlanWarning) -> None:
    """Print an error or warning; long lines stay whole, so that the caret keeps its place."""
    console.print(diagnostic(message), soft_wrap=True, highlight=False)
