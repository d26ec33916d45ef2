"""The server: an engine over HTTP, and the page that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemill.server.settings import Limits, Settings

if TYPE_CHECKING:
    from tidemill.server.app import create_app
    from tidemill.server.service import Service
    from tidemill.server.startup import begin

__all__ = ["Limits", "Service", "Settings", "begin", "create_app"]

_PLACES = {"create_app": "app", "Service": "service", "begin": "startup"}


def __getattr__(name: str) -> Any:
    # What serves takes its time to be imported: other commands do not wait for it.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
