"""What is new in the sources: numbered slices that grow, written down and read by tasks."""

from tidemill.feeds.feed import Feed
from tidemill.feeds.files import FilesFeed, files_feed
from tidemill.feeds.options import FORMATS, refusal, understands
from tidemill.feeds.pushed import PushedFeed
from tidemill.feeds.reading import read_slice
from tidemill.feeds.relation import relation_table
from tidemill.feeds.retained import Retained
from tidemill.feeds.slices import FileSlice, Slice, TableSlice, from_json, to_json
from tidemill.feeds.splitting import split
from tidemill.feeds.tables import TablesFeed

__all__ = [
    "FORMATS",
    "Feed",
    "FileSlice",
    "FilesFeed",
    "PushedFeed",
    "Retained",
    "Slice",
    "TableSlice",
    "TablesFeed",
    "files_feed",
    "from_json",
    "read_slice",
    "refusal",
    "relation_table",
    "split",
    "to_json",
    "understands",
]
