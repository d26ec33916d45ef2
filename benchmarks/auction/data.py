"""The data of a run, in a folder that can be used again."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.auction.worker import Request, Worker
from tidemill.nexmark.generate import Size


@dataclass(frozen=True)
class Data:
    """The four streams of a size, each in so many files."""

    folder: Path
    size: Size
    files: int

    @property
    def path(self) -> Path:
        return self.folder / f"{self.size.bids}-bids-in-{self.files}-files"

    @property
    def is_there(self) -> bool:
        return self.path.exists()

    def generate(self, worker: Worker) -> None:
        """Make the streams on the Spark of a worker."""
        # Under another name until they are complete: an interrupted run leaves nothing half made.
        unfinished = self.path.with_name(f"{self.path.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        worker.ask(
            Request("generate", "", str(unfinished), 0, bids=self.size.bids, files=self.files)
        )
        unfinished.rename(self.path)
