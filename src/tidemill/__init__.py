"""Tidemill: continuous SQL queries over data streams, with exact meaning."""
