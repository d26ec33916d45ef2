"""Quality that users allow to vary: bounds, which knobs change together, changes, and histories."""

from tidemill.graph.quality.bounds import Granules, Quality, SizeRange, quality_of
from tidemill.graph.quality.granules import next_instant, synchronised
from tidemill.graph.quality.history import Histories, SizeSetting, pruned, recorded, settings
from tidemill.graph.quality.knobs import Knobs, Wish, adjustable_nodes, with_knobs
from tidemill.graph.quality.resizing import earliest_change, resized, settled_until

__all__ = [
    "Granules",
    "Histories",
    "Knobs",
    "Quality",
    "SizeRange",
    "SizeSetting",
    "Wish",
    "adjustable_nodes",
    "earliest_change",
    "next_instant",
    "pruned",
    "quality_of",
    "recorded",
    "resized",
    "settings",
    "settled_until",
    "synchronised",
    "with_knobs",
]
