"""Plans that mean the same and cost less."""

from tidemill.optimize.driver import optimize

__all__ = ["optimize"]
