"""The text of a file: unpacked, in UTF-8, with lines that end in the same way."""

from __future__ import annotations

import pyarrow as pa

from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.opening import opened

_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_OTHERS = (".deflate", ".snappy", ".lz4", ".xz", ".zip", ".lzo")
_MARK = b"\xef\xbb\xbf"  # of UTF-8, at the begin of a file


def text_of(path: str, encoding: str = "utf-8", multi_line: bool = False) -> bytes:
    """The text of a file in UTF-8, whose lines end in a line feed.

    If values may hold the end of a line (`multi_line`), all lines have to end in the same way.
    """
    data = _unpacked(path).removeprefix(_MARK)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"byte {error.start + 1} is not {error.encoding}: {error.reason}"
        ) from None
    data = data if encoding == "utf-8" else text.encode()
    if b"\r" not in data:
        return data
    if multi_line and not data.count(b"\r") == data.count(b"\n") == data.count(b"\r\n"):
        raise Unreadable("its lines end in different ways, and values may have lines (multiLine)")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _unpacked(path: str) -> bytes:
    name = path.lower()
    if name.endswith(_OTHERS):
        raise Unreadable(f"only {', '.join(_PACKED)} are unpacked here")
    with opened(path) as file:
        for suffix, codec in _PACKED.items():
            if name.endswith(suffix):
                with pa.CompressedInputStream(file, codec) as unpacked:
                    return bytes(unpacked.read())
        return bytes(file.read())
