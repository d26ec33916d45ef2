"""Sizes that change while queries run (PIPES, chapter 24): what is measured, and estimated."""
