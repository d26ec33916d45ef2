"""The auction benchmark: its data and its queries."""

from tidemill.nexmark.generate import Size, generate

__all__ = ["Size", "generate"]
