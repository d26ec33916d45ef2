"""Tables as the bytes of files, in the formats that need no Spark."""

from tidemill.connectors.sinks.encoding.formats import FORMATS, Encoding, encoding_of
from tidemill.connectors.sinks.encoding.options import NotOurs

__all__ = ["FORMATS", "Encoding", "NotOurs", "encoding_of"]
