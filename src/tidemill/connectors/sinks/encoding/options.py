"""Options of file formats, under the names that Spark gives them."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Mapping
from typing import Any


class NotOurs(Exception):
    """A reason why a file cannot be written here, though Spark may be able to."""


class Options:
    """Options that are taken one by one; one that nobody takes is not understood.

    >>> options = Options({"Header": "true", "sep": ";"})
    >>> options.flag("header"), options.text("sep", "delimiter", default=",")
    (True, ';')
    >>> options.end()
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        # Their case does not matter to Spark.
        self._left = {name.lower(): (name, value) for name, value in given.items()}

    def text(self, *names: str, default: str) -> str:
        """An option by any of its names."""
        found = [self._left.pop(n.lower())[1] for n in names if n.lower() in self._left]
        return str(found[0]) if found else default

    def flag(self, name: str, default: bool = False) -> bool:
        """An option that is true or false."""
        value = self.text(name, default=str(default)).lower()
        if value not in ("true", "false"):
            raise NotOurs(f"the option {name} is neither true nor false")
        return value == "true"

    def choice(self, *names: str, default: str, among: Mapping[str, str]) -> str:
        """What an option stands for, whatever its case."""
        value = self.text(*names, default=default).lower()
        if value not in among:
            raise NotOurs(f"{names[0]}={value} is not one of {', '.join(among)}")
        return among[value]

    def sign(self, *names: str, default: str) -> str:
        """An option that is one character."""
        value = self.text(*names, default=default)
        if len(value) != 1:
            raise NotOurs(f"the option {names[0]} is not one character")
        return value

    def end(self) -> None:
        """Refuse what was not taken."""
        for name, _ in self._left.values():
            raise NotOurs(f"the option {name} is one of Spark")


_TEXT_CODECS = {"none": "", "uncompressed": "", "gzip": ".gz", "bzip2": ".bz2"}

_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),  # the same rows, the same bytes
    ".bz2": bz2.compress,
}


def text_suffix(options: Options) -> str:
    """What the names of compressed texts end with; readers rely on it."""
    return options.choice("compression", "codec", default="none", among=_TEXT_CODECS)


def compressed(data: bytes, suffix: str) -> bytes:
    """A text as its name promises it."""
    return _COMPRESS[suffix](data)
