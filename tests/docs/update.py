"""Write the real outputs into the pages: python -m tests.docs.update, then read the difference.

With names of pages, only into these.
"""

import os
import sys

from tests.docs.pages import ROOT, RUNNABLE, Session, examples


def updated(page: str) -> str:
    session = Session()
    parts, done = [], 0
    for example in examples(page):
        output = session.run(example.block)
        if example.block.language == "console":
            start = example.block.start + example.block.text.index("\n") + 1
            parts += [page[done:start], output + "\n"]
            done = example.block.end
        elif example.output is not None:
            parts += [page[done : example.output.start], output + "\n"]
            done = example.output.end
    return "".join([*parts, page[done:]])


if __name__ == "__main__":
    os.chdir(ROOT)
    wanted = sys.argv[1:]
    for path in (path for path in RUNNABLE if not wanted or path.name in wanted):
        path.write_text(updated(path.read_text("utf-8")), "utf-8")
