"""Whether Spark can be started here."""

from __future__ import annotations

import os
import shutil


def has_java() -> bool:
    """Whether there is a Java runtime where Spark looks for one."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None) is not None
