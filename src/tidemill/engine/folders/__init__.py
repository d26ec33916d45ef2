"""Durable folders, of runs and of servers: checked, repaired, copied."""

from tidemill.engine.folders.backup import backup, restore
from tidemill.engine.folders.repair import repair
from tidemill.engine.folders.verify import Damage, verify

__all__ = ["Damage", "backup", "repair", "restore", "verify"]
