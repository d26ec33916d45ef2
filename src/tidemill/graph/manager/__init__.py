"""Adaptive resource management: bounds for memory and processing, kept by adjusting sizes."""

from tidemill.graph.manager.knobs import Demand, Knob
from tidemill.graph.manager.manager import Readings, ResourceManager

__all__ = ["Demand", "Knob", "Readings", "ResourceManager"]
