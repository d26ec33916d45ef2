"""The path of a query in the page about the architecture is the one that it takes."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

import tidemill as tm
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = Path(tm.__file__).parent
_SECTION = re.compile(r"^## One query, module by module$(.*?)^## ", re.MULTILINE | re.DOTALL)
_QUERY = re.compile(r"path of `(SELECT [^`]+)`")
_STEP = re.compile(r"^\| `([\w/]+\.py)` \| (.+) \|$", re.MULTILINE)


def section() -> str:
    found = _SECTION.search(PAGE.read_text("utf-8"))
    assert found is not None
    return found[1]


def steps() -> list[tuple[str, str]]:
    """Modules and what they do, in the order of the page."""
    return _STEP.findall(section())


@contextmanager
def first_calls() -> Iterator[list[str]]:
    """The modules of the package, in the order in which one of their functions is first called."""
    called: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            called.setdefault(code.co_filename)

    order: list[str] = []
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield order
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        own = (Path(name) for name in called if name.startswith(str(PACKAGE)))
        order += [path.relative_to(PACKAGE).as_posix() for path in own]


def walked(engine: tm.Engine) -> list[str]:
    found = _QUERY.search(section())
    assert found is not None
    engine.stream("bid", [{"item": "lamp", "at": 1}, {"item": "vase", "at": 2}], time="at")
    with first_calls() as order:
        query = engine.sql(found[1])
        assert query is not None
        assert query.collect().num_rows == 2
    return order


def check(order: list[str], elsewhere: Callable[[str], bool]) -> None:
    """The page has the modules of a walk in its order; others are said to be elsewhere."""
    missing = [module for module, text in steps() if module not in order and not elsewhere(text)]
    assert not missing
    shown = [module for module, text in steps() if module in order and not elsewhere(text)]
    assert shown == [module for module in order if module in shown]


def test_modules_exist_and_none_comes_twice() -> None:
    modules = [module for module, _ in steps()]
    assert len(modules) > 30
    assert len(modules) == len(set(modules))
    assert not [module for module in modules if not (PACKAGE / module).is_file()]


def test_the_order_in_process() -> None:
    with tm.Engine(runtime="inprocess") as engine:
        check(walked(engine), elsewhere=lambda text: text.endswith("(on Spark)"))


@pytest.mark.spark
def test_the_order_in_the_driver_of_spark(session: SparkSession) -> None:
    with tm.Engine(spark=session) as engine:
        check(walked(engine), elsewhere=lambda text: text.startswith("*task*"))
