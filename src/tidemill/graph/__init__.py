"""The running graph: many queries that share what they have in common, and change as they run."""
