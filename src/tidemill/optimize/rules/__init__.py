"""One rewriting of plans per module."""
