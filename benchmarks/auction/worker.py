"""The other end of `serving`: start a system in its own process, ask it, and stop it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.auction import serving
from benchmarks.auction.processes import Peak, kill
from tidemill.errors import TidemillError

_PATIENCE = 20.0
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Request:
    """What a system is asked to `do`.

    `run` a query and let the results go; write its `answer` to a file; run the `floor`;
    `generate` data. `window` multiplies the sizes of windows.
    """

    do: str
    query: str
    data: str
    partitions: int
    master: str = "local"
    window: int = 1
    file: str = ""
    bids: int = 0
    files: int = 0


@dataclass(frozen=True)
class Spent:
    """What a request took: seconds without start-up, bytes of all processes, seconds of a core."""

    seconds: float = 0.0
    memory: int = 0
    cpu: float = 0.0


@dataclass(frozen=True)
class Reply:
    """What came back. If the system was over the limit, `spent` is all that is known."""

    spent: Spent
    over: bool = False
    content: dict[str, Any] = field(default_factory=dict)


class WorkerFailed(TidemillError):
    """A system could not do what it was asked."""


class Worker:
    """A system in a process of its own, with folders of its own for whatever it writes."""

    def __init__(self, system: str, cores: int, python: str = sys.executable) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="tidemill-bench-", ignore_cleanup_errors=True
        )
        self._errors = Path(self._folder.name, "errors.txt")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [python, "-P", serving.__file__, system, str(cores)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(self._folder.name),
                start_new_session=True,  # Ctrl-C is for us: we end it
            )

    def ask(self, request: Request, limit: float | None = None) -> Reply:
        """Wait for the answer. A system that is over the limit is ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with Peak(self._process.pid) as peak:
            try:
                stdin.write(json.dumps(asdict(request)).encode() + b"\n")
                stdin.flush()
            except BrokenPipeError:
                raise self._failed() from None
            ready, _, _ = select.select([stdout], [], [], limit)
        if not ready:
            self.close()
            assert limit is not None
            return Reply(Spent(limit, peak.memory, peak.cpu), over=True)
        line = stdout.readline()
        if not line:
            raise self._failed()
        content = json.loads(line)
        if "error" in content:
            raise WorkerFailed(content["error"])
        return Reply(Spent(content.get("seconds", 0.0), peak.memory, peak.cpu), content=content)

    def close(self) -> None:
        """End it and all that it has started; there is nothing in it that must be kept."""
        if self._process.poll() is None:
            kill(self._process.pid)
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._folder.cleanup()

    def _failed(self) -> WorkerFailed:
        self._process.wait(_PATIENCE)
        lines = self._errors.read_text(errors="replace").strip().splitlines()
        return WorkerFailed(f"the process ended: {lines[-1] if lines else 'no reason given'}")


def _environment(folder: str) -> dict[str, str]:
    """Temporary files go where they are removed, also after a kill; one thread per partition."""
    java = f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} -Djava.io.tmpdir={folder}".strip()
    return {
        **os.environ,
        # Where the modules of systems are found, from whatever folder the benchmark is started.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])),
        "TMPDIR": folder,
        "SPARK_LOCAL_DIRS": folder,
        "JAVA_TOOL_OPTIONS": java,
        "POLARS_MAX_THREADS": "1",
    }
