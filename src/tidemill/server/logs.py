"""The log of a server: one JSON object in every line, on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidemill.errors import TidemillError, masked
from tidemill.server.settings import LOG_LEVELS

LOG: Final = logging.getLogger("tidemill.server")


class JsonLines(logging.Formatter):
    """A record as JSON: when, how bad, what, and whatever else is known of it.

    >>> record = logging.LogRecord("tidemill", logging.INFO, "", 0, "hot started", None, None)
    >>> record.facts = {"query": "hot"}
    >>> sorted(json.loads(JsonLines().format(record)))
    ['level', 'logger', 'message', 'query', 'time']
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": masked(record.getMessage()),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            said["traceback"] = masked(self.formatException(record.exc_info))
        return json.dumps(said, ensure_ascii=False, default=str)


def write_logs(level: str) -> None:
    """Write what is at least so important; nothing else of this process is logged."""
    if level not in LOG_LEVELS:
        help = f"levels: {', '.join(LOG_LEVELS)}"
        raise TidemillError(f"there is no log level `{level}`", help=help)
    if level == "off":
        return
    logging.disable(logging.NOTSET)  # the command line leaves it to each command
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("tidemill")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(level.upper())


def is_written() -> bool:
    """Whether somebody wants a log."""
    return bool(logging.getLogger("tidemill").handlers)


def log(level: int, message: str, /, error: BaseException | None = None, **facts: Any) -> None:
    """Write a line, with facts as fields of their own."""
    LOG.log(level, message, extra={"facts": facts}, exc_info=error)


class RequestLog:
    """An ASGI app around another: a line for every request, with its status and its time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_written():
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            _log_request(scope, status, time.perf_counter() - began)


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    level = logging.ERROR if status >= 500 else logging.WARNING if status >= 400 else logging.DEBUG
    if scope["method"] not in ("GET", "HEAD") and level == logging.DEBUG:
        level = logging.INFO
    facts: dict[str, Any] = {"status": status, "milliseconds": round(seconds * 1000, 1)}
    client = (scope.get("client") or ("",))[0]
    log(level, f"{scope['method']} {scope['path']}", None, client=client, **facts)
