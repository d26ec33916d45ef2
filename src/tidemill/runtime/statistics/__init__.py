"""What a run finds out for the plans of other queries: rates, distinct values, selectivities."""
