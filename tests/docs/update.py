"""Write the real outputs into the pages: python -m tests.docs.update, then read the difference.

With names of pages, only into these.
"""

import os
import sys

from tests.docs.pages import ROOT, RUNNABLE, Example, Session, examples


def updated(page: str) -> str:
    parts, done = [], 0
    with Session() as session:
        for example in examples(page):
            output = session.run(example.block)
            if (shown := _shown(example)) is not None:
                parts += [page[done : shown[0]], output + "\n"]
                done = shown[1]
    return "".join([*parts, page[done:]])


def _shown(example: Example) -> tuple[int, int] | None:
    """Where in the page the output of an example stands."""
    block, output = example.block, example.output
    if block.language == "console":
        return block.start + block.text.index("\n") + 1, block.end
    if block.language == "shell":
        return block.start, block.end
    return None if output is None else (output.start, output.end)


if __name__ == "__main__":
    os.chdir(ROOT)
    wanted = sys.argv[1:]
    for path in (path for path in RUNNABLE if not wanted or path.name in wanted):
        path.write_text(updated(path.read_text("utf-8")), "utf-8")
