"""One durable folder: the checkpoint of a run, and the folder of a server."""

from tidemill.store.disk import Disk, LocalDisk, Part, local_disk, using
from tidemill.store.frames import TRAILER, unsealed, whole_file
from tidemill.store.groups import GroupCommit
from tidemill.store.numbered import Numbered
from tidemill.store.store import (
    DURABILITIES,
    MARK,
    Durability,
    Store,
    durability_of,
    ipc_file,
)

__all__ = [
    "DURABILITIES",
    "MARK",
    "TRAILER",
    "Disk",
    "Durability",
    "GroupCommit",
    "LocalDisk",
    "Numbered",
    "Part",
    "Store",
    "durability_of",
    "ipc_file",
    "local_disk",
    "unsealed",
    "using",
    "whole_file",
]
