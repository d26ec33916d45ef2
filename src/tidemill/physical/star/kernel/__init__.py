"""The compiled part of star joins. Only `sweep` is called from outside."""
