"""The shell: statements and commands at a prompt, against an engine or a server."""

from tidemill.shell.backend import Backend
from tidemill.shell.embedded import EmbeddedBackend
from tidemill.shell.printer import Printer
from tidemill.shell.remote import ServerBackend
from tidemill.shell.repl import Repl
from tidemill.shell.session import Session

__all__ = ["Backend", "EmbeddedBackend", "Printer", "Repl", "ServerBackend", "Session"]
