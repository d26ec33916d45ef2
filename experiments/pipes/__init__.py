"""Formulas of PIPES for operators as that text builds them, and what they leave open."""
