"""What queries can refer to: sources, derived streams, functions, and what users say of them."""

from tidemill.catalog.catalog import Catalog, Derived, SourceInfo
from tidemill.catalog.hints import Hints

__all__ = ["Catalog", "Derived", "Hints", "SourceInfo"]
