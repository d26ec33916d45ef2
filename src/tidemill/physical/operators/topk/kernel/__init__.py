"""The compiled part of top-k. Only `sweep` is called from outside."""
