"""A copy of the sources, in which files are changed and counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import tidemill

SOURCE = Path(tidemill.__file__).parent


class Tree:
    """A copy of the sources below a folder, and the files of it that were touched."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tidemill"
        # With what was compiled of the files that stay: it counts as long as their times do.
        shutil.copytree(SOURCE, self.root, ignore=shutil.ignore_patterns("page"))
        self.touched: set[str] = set()

    def edit(self, name: str, old: str, new: str) -> None:
        """Put something else in the place of a text."""
        path = self.root / name
        text = path.read_text("utf-8")
        assert old in text, f"{name} has changed: {old!r}"
        path.write_text(text.replace(old, new, 1), "utf-8")
        self.touched.add(name)

    def append(self, name: str, text: str) -> None:
        """Add something at the end of a file, or a new file."""
        path = self.root / name
        before = path.read_text("utf-8") if path.exists() else ""
        path.write_text(before + text, "utf-8")
        self.touched.add(name)

    def list_after(self, name: str, known: str, new: str) -> None:
        """Add a line to a list, after a known one."""
        self.edit(name, f"    {known},\n", f"    {known},\n    {new},\n")
