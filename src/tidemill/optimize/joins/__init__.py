"""Joins of many windows: what they cost, and in which order partners are looked up."""
