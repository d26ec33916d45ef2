"""Plans as SQL."""

from tidemill.compose.sql.block import CannotSay
from tidemill.compose.sql.unparse import to_sql

__all__ = ["CannotSay", "to_sql"]
