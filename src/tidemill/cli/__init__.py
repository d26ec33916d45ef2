"""The command line: a thin shell over the public API."""

from tidemill.cli.app import app, main

__all__ = ["app", "main"]
