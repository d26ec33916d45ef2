"""What is new in the sources: numbered slices that grow, written down and read by tasks."""

from tidemill.feeds.feed import Feed
from tidemill.feeds.opening import folder_of, in_store
from tidemill.feeds.pushed import PushedFeed
from tidemill.feeds.reading import read_slice
from tidemill.feeds.retained import Retained
from tidemill.feeds.slices import (
    FileSlice,
    Slice,
    TableSlice,
    from_json,
    split,
    split_numbered,
    stored,
    to_json,
)
from tidemill.feeds.tables import TablesFeed

__all__ = [
    "Feed",
    "FileSlice",
    "PushedFeed",
    "Retained",
    "Slice",
    "TableSlice",
    "TablesFeed",
    "folder_of",
    "from_json",
    "in_store",
    "read_slice",
    "split",
    "split_numbered",
    "stored",
    "to_json",
]
