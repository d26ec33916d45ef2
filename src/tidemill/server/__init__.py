"""The server: an engine over HTTP, and the page that shows it."""

from tidemill.server.app import create_app
from tidemill.server.service import Service
from tidemill.server.settings import Limits, Settings

__all__ = ["Limits", "Service", "Settings", "create_app"]
