"""Timed workloads: `python benchmarks/NAME.py` runs one of them."""
