"""Malformed requests and SQL texts for a server, by the thousands, the same for the same seed."""
