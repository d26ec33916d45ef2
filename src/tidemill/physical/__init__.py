"""The physical algebra: columnar operators, one per module, and the choice among them."""
