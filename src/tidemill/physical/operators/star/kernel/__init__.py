"""The compiled part of star joins. Only `sweep` and `connect` are called from outside."""
