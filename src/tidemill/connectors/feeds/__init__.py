"""What is new in the sources: numbered slices that grow, written down and read by tasks."""

from tidemill.connectors.feeds.feed import MOST_BYTES, Feed, within
from tidemill.connectors.feeds.files import FilesFeed, files_feed
from tidemill.connectors.feeds.inbox import Inbox, Receipt
from tidemill.connectors.feeds.opening import folder_of, in_store
from tidemill.connectors.feeds.options import FORMATS, refusal, understands
from tidemill.connectors.feeds.pushed import PushedFeed
from tidemill.connectors.feeds.reading import read_slice
from tidemill.connectors.feeds.relation import relation_slices, relation_table
from tidemill.connectors.feeds.retained import Retained
from tidemill.connectors.feeds.slices import (
    FileSlice,
    OffsetRange,
    Slice,
    TableSlice,
    TopicSlice,
    effort_of,
    kept_json,
    kept_slice,
    size_of,
    stored,
    stored_slice,
)
from tidemill.connectors.feeds.splitting import split, split_numbered
from tidemill.connectors.feeds.tables import TablesFeed
from tidemill.connectors.feeds.view import View

__all__ = [
    "FORMATS",
    "MOST_BYTES",
    "Feed",
    "FileSlice",
    "FilesFeed",
    "Inbox",
    "OffsetRange",
    "PushedFeed",
    "Receipt",
    "Retained",
    "Slice",
    "TableSlice",
    "TablesFeed",
    "TopicSlice",
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
