"""Time intervals against positive and negative elements: both approaches, row by row."""
