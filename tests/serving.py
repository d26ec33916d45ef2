"""A server in a thread of this process, for tests that need one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from tidemill.server import Settings, create_app
from tidemill.server.startup import begin


@contextmanager
def served(token: str | None = None, every: float = 0.02) -> Iterator[str]:
    """The address of a server that ends with the block."""
    settings = Settings(port=0, token=token, every=every)
    app = create_app(begin(settings), settings)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
