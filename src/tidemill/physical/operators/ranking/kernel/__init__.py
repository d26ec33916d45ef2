"""The compiled parts of rankings."""
