"""Plans that mean the same and cost less."""

from tidemill.optimize.driver import RULES, optimize
from tidemill.optimize.steps import Optimized, optimized

__all__ = ["RULES", "Optimized", "optimize", "optimized"]
