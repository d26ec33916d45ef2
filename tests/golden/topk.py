"""The golden data of rankings over incomplete streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "papers" / "topk.json"


@cache
def cases() -> Mapping[str, Any]:
    """All cases by id."""
    return {case["id"]: case for case in json.loads(_FILE.read_text("utf-8"))["cases"]}
