"""The auction benchmark: its data, its queries, and a comparison with other systems."""

from tidemill.nexmark.generate import Size, generate

__all__ = ["Size", "generate"]
