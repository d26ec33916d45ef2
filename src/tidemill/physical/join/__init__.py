"""Joins of two or more inputs."""

from tidemill.physical.join.node import JoinExec

__all__ = ["JoinExec"]
