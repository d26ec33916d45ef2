"""What is new in the sources: numbered slices that grow, written down and read by tasks."""

from tidemill.feeds.feed import MOST_BYTES, Feed, within
from tidemill.feeds.files import FilesFeed, files_feed
from tidemill.feeds.inbox import Inbox, Receipt
from tidemill.feeds.opening import folder_of, in_store
from tidemill.feeds.options import FORMATS, refusal, understands
from tidemill.feeds.pushed import PushedFeed
from tidemill.feeds.reading import read_slice
from tidemill.feeds.relation import relation_slices, relation_table
from tidemill.feeds.retained import Retained
from tidemill.feeds.slices import (
    FileSlice,
    Slice,
    TableSlice,
    effort_of,
    kept_json,
    kept_slice,
    size_of,
    stored,
    stored_slice,
)
from tidemill.feeds.splitting import split, split_numbered
from tidemill.feeds.tables import TablesFeed
from tidemill.feeds.view import View

__all__ = [
    "FORMATS",
    "MOST_BYTES",
    "Feed",
    "FileSlice",
    "FilesFeed",
    "Inbox",
    "PushedFeed",
    "Receipt",
    "Retained",
    "Slice",
    "TableSlice",
    "TablesFeed",
    "View",
    "effort_of",
    "files_feed",
    "folder_of",
    "in_store",
    "kept_json",
    "kept_slice",
    "read_slice",
    "refusal",
    "relation_slices",
    "relation_table",
    "size_of",
    "split",
    "split_numbered",
    "stored",
    "stored_slice",
    "understands",
    "within",
]
