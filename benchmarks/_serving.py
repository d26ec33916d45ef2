"""A `tidemill serve` in a process of its own, and requests that cost the client little."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_MAIN = "from tidemill.cli import main; main()"
_PATIENCE = 600.0
_MOMENT = 0.01


class Served:
    """A server with a folder, from the moment on in which it is started."""

    def __init__(self, folder: Path, script: str, *options: str) -> None:
        self.port = _free_port()
        file = folder / "start.sql"
        file.write_text(script)
        place = ["--port", str(self.port), "--dir", str(folder / "kept")]
        self.began = time.monotonic()
        self._log = (folder / "log.txt").open("w")
        command = [sys.executable, "-c", _MAIN, "serve", str(file), *place, *options]
        self._process = subprocess.Popen(command, stderr=self._log, env={**os.environ})

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self.began

    @property
    def cpu_seconds(self) -> float | None:
        """What its own process has worked since then, whatever else the machine does."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return None
        user, system = stat.read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop it, or kill it."""
        self._process.send_signal(how)
        self._process.wait(_PATIENCE)
        self._log.close()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the content of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            text = None if body is None else json.dumps(body)
            headers = {"content-type": "application/json"} if text else {}
            connection.request(method, f"/api/{path}", text, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def done(self, method: str, path: str, body: Any = None) -> Any:
        """The content of an answer that is no error."""
        status, content = self.ask(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {content}")
        return content

    def answers(self) -> float:
        """Seconds from the start to the first answer, whatever it says."""
        return self._when(range(600))

    def is_ready(self) -> float:
        """Seconds from the start until it does what it is asked for."""
        return self._when(range(200, 300))

    def _when(self, statuses: range) -> float:
        while self.seconds < _PATIENCE:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server has ended: {Path(self._log.name).read_text()}")
            with suppress(OSError, http.client.HTTPException):
                if self.ask("GET", "info")[0] in statuses:
                    return self.seconds
            time.sleep(_MOMENT)
        raise TimeoutError("the server does not answer")


@contextmanager
def served(folder: Path, script: str, *options: str) -> Iterator[Served]:
    """A server that is ready, and ends with the block."""
    found = Served(folder, script, *options)
    try:
        found.is_ready()
        yield found
    finally:
        found.end()


async def post_again(port: int, path: str, body: bytes, until: float) -> list[float]:
    """Post a body, over and over, on one connection; when each answer came.

    `NOW` in the body stands for the milliseconds of the clock.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = []
    while time.monotonic() < until:
        now = body.replace(b"NOW", str(int(time.time() * 1000)).encode())
        head = (
            f"POST /api/{path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(now)}\r\n\r\n"
        )
        writer.write(head.encode() + now)
        await _read_answer(reader)
        found.append(time.monotonic())
    writer.close()
    return found


async def _read_answer(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
    content = await reader.readexactly(length)
    if not head.startswith("http/1.1 2"):
        raise RuntimeError(content.decode())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
