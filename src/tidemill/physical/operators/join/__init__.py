"""Joins of two or more inputs."""

from tidemill.physical.operators.join.node import JoinExec

__all__ = ["JoinExec"]
