"""What the page about the server shows is so."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

from tests.server.conftest import SETTINGS, serving

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
HERE = "http://127.0.0.1:8321"


def _calls(text):
    """Method, address, headers and body of every call of curl."""
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    for line in re.split(r"\n(?=\S)", "\n".join(blocks)):
        words = shlex.split(line, comments=True)
        if words[:1] != ["curl"]:
            continue
        options = dict(pairwise(words))
        body, header = options.get("-d"), options.get("-H", ":")
        method = options.get("-X", "GET" if body is None else "POST")
        name, _, value = header.partition(": ")
        address = next(word for word in words if word.startswith(HERE))
        yield method, address, {name: value} if value else {}, body


def test_the_calls_of_the_page_work_and_all_routes_are_there():
    text = PAGE.read_text("utf-8")
    for server in serving(SETTINGS):
        calls = list(_calls(text))
        assert len(calls) > 25
        for method, address, headers, body in calls:
            said = server.http.request(method, address, headers=headers, content=body)
            assert said.is_success, f"{method} {address}: {said.text}"
        for path in server.get("openapi.json")["paths"]:
            known = path.replace("{name}", "[a-z]+").replace("{node}", "[0-9]+")
            assert re.search(known, text), f"{path} is not in the page"


def test_the_limits_of_the_page_are_those_of_the_server():
    text, limits = PAGE.read_text("utf-8"), SETTINGS.limits
    assert limits.body_bytes == 16 << 20
    for number in (
        limits.sql_characters,
        limits.result_rows,
        limits.kept_rows,
        limits.waiting_rows,
    ):
        assert f"| {number:,} |" in text
    for number in (limits.statement_parts, limits.statement_tables):
        assert f"| {number:,} |" in text
    for number in (limits.queries, limits.sockets, limits.run_seconds, limits.runs):
        assert f"| {number:g} |" in text
