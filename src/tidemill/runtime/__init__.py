"""Runtimes: they feed physical plans with the rows of sources, tick by tick."""
