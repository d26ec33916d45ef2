"""The operators of physical plans, one per module or package."""
