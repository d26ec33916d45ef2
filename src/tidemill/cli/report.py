"""Errors and warnings on the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from tidemill import PlanWarning, TidemillError
from tidemill.terminal.diagnostics import show

_INTERRUPTED = 130  # what shells expect of a command that Ctrl-C has ended


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
