"""A system under test in a process of its own: a line of JSON asks, a line of JSON answers.

    python -P serving.py SYSTEM CORES

SYSTEM is a module, or a file if it needs another interpreter, with a function `handle`. This
script must not import Tidemill, because Flink's interpreter does not have it.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import threading
import time
from typing import Any


def main(system: str, cores: int) -> None:
    """Answer requests until there are no more."""
    if hasattr(os, "sched_setaffinity"):
        # All that is started from here, JVMs too, sees and uses so many cores.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    # Whatever the system prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if system.endswith(".py"):
        handle = runpy.run_path(system)["handle"]
    else:
        handle = importlib.import_module(system).handle
    for line in sys.stdin:
        print(json.dumps(_answer(handle, json.loads(line))), file=answers, flush=True)


def _answer(handle: Any, request: dict[str, Any]) -> Any:
    try:
        return handle(request)
    except Exception as error:
        text = str(error).strip() or type(error).__name__
        return {"error": text.splitlines()[0]}


def _follow(parent: int) -> None:
    """End with the benchmark, however it ends: nothing may go on measuring for no one."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
