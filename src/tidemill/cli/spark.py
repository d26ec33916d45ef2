"""Spark for a command: started quietly, with a word on the terminal."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from tidemill import Engine


def start_spark(engine: Engine, notes: Console) -> None:
    """Start the session of an engine, and say so while it takes its time."""
    word = "starting Spark"
    if notes.is_terminal:
        # (Nothing that moves: standard error is somewhere else meanwhile.)
        notes.print(word, end="\r", style="dim")
    with _quiet():
        assert engine.spark
    # PySpark would cancel jobs by itself, and fail where it is just talking to Java.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if notes.is_terminal:
        notes.print(" " * len(word), end="\r")


@contextmanager
def _quiet() -> Iterator[None]:
    """Java warns of a module that Spark asks for. Processes started here have no such voice."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
