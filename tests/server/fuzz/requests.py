"""Requests as they should be, and what can be done to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from tests.server.fuzz.asking import Asked, sent
from tests.server.fuzz.values import NUMBERS, RAW, TEXTS, deep, value

QUERIES = ("highest", "count_of", "pages", "none")
STREAMS = ("bid", "click", "blocked", "dear", "none")
ARROW = b"application/vnd.apache.arrow.stream"


def _arrow() -> bytes:
    """Rows of Arrow, with columns of other kinds than the stream has."""
    columns = {
        "item": pa.array([1, None, 3], pa.int32()),
        "price": pa.array([1.0, float("nan"), None]),
        "bidder": pa.array(["a", "b", None]).dictionary_encode(),
        "at": pa.array([100, 101, 102], pa.uint64()),
    }
    table, sink = pa.table(columns), BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _rows(random: Random) -> list[Asked]:
    stream = random.choice(STREAMS)
    row = {"item": 1, "price": 2.5, "bidder": "ann", "at": 30}
    rows = [row | {"at": 30 + n} for n in range(random.randrange(3))]
    arrow = replace(sent("POST", "/api/streams/bid/rows"), body=_arrow())
    return [
        sent("POST", f"/api/streams/{stream}/rows", rows, "wait=true"),
        sent("POST", f"/api/streams/{stream}/rows", {"rows": rows}),
        sent("POST", f"/api/streams/{stream}/heartbeat", {"at": 50}),
        sent("POST", "/api/relations/blocked/rows", {"rows": [{"bidder": "bob"}], "at": 3}),
        sent("DELETE", "/api/relations/blocked/rows", {"where": "bidder = 'bob'", "at": 4}),
        sent("POST", "/api/hints", {"stream": stream, "rate": 3.5, "distinct": {"item": 3}}),
        sent("POST", "/api/graph/sizes", {"sizes": {"bid": 3}, "at": 9}),
        arrow.with_headers((b"content-type", ARROW)),
    ]


def _queries(random: Random) -> list[Asked]:
    name = random.choice(QUERIES)
    sql = "SELECT item, MAX(price) AS most FROM bid [RANGE 7] GROUP BY item"
    return [
        sent("POST", "/api/queries", {"name": f"n{random.randrange(9)}", "sql": sql}),
        sent("PATCH", f"/api/queries/{name}", {"sql": sql}),
        sent("PATCH", f"/api/queries/{name}", {"optimize": True}),
        sent("DELETE", f"/api/queries/n{random.randrange(9)}"),
        sent("POST", f"/api/queries/{name}/start", {"partial": True}),
        sent("POST", f"/api/queries/{name}/stop"),
        sent("POST", "/api/run", {"sql": sql, "limit": 10}),
    ]


def _reads(random: Random) -> list[Asked]:
    name = random.choice(QUERIES)
    routes = ("info", "catalog", "queries", "graph", "resources", "openapi.json")
    of_query = ("", "/plan", "/progress", "/settings")
    results = (("snapshot", "at=5"), ("results", "from=1&to=9"), ("changes", "since=0"))
    return [
        *(sent("GET", f"/api/{route}") for route in routes),
        *(sent("GET", f"/api/queries/{name}{rest}") for rest in of_query),
        *(sent("GET", f"/api/queries/{name}/{a}", query=f"{b}&limit=3") for a, b in results),
        sent("GET", "/api/graph/nodes/1/history"),
        sent("GET", "/"),
        sent("GET", "/assets/index.js"),
    ]


def valid(random: Random) -> Asked:
    """A request as it should be."""
    return random.choice(random.choice((_rows, _queries, _reads))(random))


# What can be done to a request

OUT = (
    b"/assets/../../main.py",
    b"/assets/..%2f..%2fmain.py",
    b"/assets/%2e%2e/%2e%2e/main.py",
    b"/assets/....//....//main.py",
    b"/assets/..%5c..%5cmain.py",
    b"/assets/%252e%252e/main.py",
    b"/assets//etc/passwd",
    b"/assets/%00",
    b"/assets/" + b"a" * 5000,
    b"/%2e%2e/%2e%2e/etc/passwd",
    b"//etc/passwd",
    b"/api/../page.py",
    b"/assets",
    b"*",
    b"",
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "F\0O", "")
HEADERS = (
    (b"content-length", (b"-1", b"abc", b"9" * 5000, b"999999999999", b"1e3", b"\xb2", b"")),
    (b"content-type", (b"text/plain", b"application/xml", b"", b"\xff", b"a/b;" * 999, ARROW)),
    (b"content-encoding", (b"gzip", b"br", b"\xff")),
    (b"accept", (b"text/csv", ARROW, b"*/*;q=-1", b"\xff\xfe", b"," * 9999, b"a\r\nx: y")),
    (b"host", (b"evil.example", b"", b"localhost:99999", b"[::1", b"127.0.0.1@evil", b"\xff")),
    (b"origin", (b"null", b"http://evil.example", b"http://[", b"", b"\xff")),
    (b"authorization", (b"Bearer", b"Bearer \xff", b"Basic YTpi", b"Bearer " + b"x" * 70_000)),
    (b"range", (b"bytes=0-", b"bytes=-1", b"bytes=9-1", b"lines=1", b"bytes=0-1,0-1,0-1")),
    (b"if-none-match", (b"*", b"\xff")),
    (b"if-modified-since", (b"never", b"Mon, 99 Foo 2024 99:99:99 GMT")),
    (b"transfer-encoding", (b"chunked", b"chunked, chunked")),
    (b"x-forwarded-for", (b"127.0.0.1",)),
    (b"cookie", (b"a=b; " * 999,)),
)


def _method(asked: Asked, random: Random) -> Asked:
    return replace(asked, method=random.choice(METHODS))


def _segment(asked: Asked, random: Random) -> Asked:
    segments = asked.path.split(b"/")
    place = random.randrange(len(segments))
    text = quote(random.choice(TEXTS), safe="" if random.random() < 0.7 else "/%")
    odd = random.choice((text.encode(), b"..", b"%2e%2e", b"%ff%fe", b"%00", b"", b"%c0%ae"))
    segments[place : place + random.randrange(2)] = [odd]
    return replace(asked, path=b"/".join(segments))


def _outside(asked: Asked, random: Random) -> Asked:
    return replace(asked, method="GET", path=random.choice(OUT))


def _query(asked: Asked, random: Random) -> Asked:
    names = ("at", "limit", "from", "to", "since", "format", "wait", "a[]", "\xff")
    values = (*map(str, NUMBERS), "nan", "arrow", "csv", "json", "", "%ff", "%00", "1&limit=2")
    pairs = [f"{random.choice(names)}={random.choice(values)}" for _ in range(3)]
    return replace(asked, query="&".join(pairs).encode("latin-1"))


def _header(asked: Asked, random: Random) -> Asked:
    name, values = random.choice(HEADERS)
    header = (name, random.choice(values))
    if random.random() < 0.3:  # a second one of that name
        return replace(asked, headers=(*asked.headers, header))
    return asked.with_headers(header)


def _cut(asked: Asked, random: Random) -> Asked:
    size = random.randrange(len(asked.body) + 1)
    return replace(asked, body=asked.body[:size], cut=random.random() < 0.5)


def _bytes(asked: Asked, random: Random) -> Asked:
    body = bytearray(asked.body or b"{}")
    for _ in range(random.randrange(1, 4)):
        body[random.randrange(len(body))] = random.randrange(256)
    return replace(asked, body=bytes(body))


def _nested(asked: Asked, random: Random) -> Asked:
    return replace(asked, body=deep(random))


def _value(asked: Asked, random: Random) -> Asked:
    """Another value somewhere in the body, or one that JSON does not have."""
    mark = "\ue000"
    other = mark if random.random() < 0.2 else value(random)
    try:
        whole = _replaced(json.loads(asked.body), random, other)
        body = json.dumps(whole, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return _bytes(asked, random)
    odd = random.choice((*RAW, b'"\\ud800"', b'"\xff"', b'"\\u0000"'))
    return replace(asked, body=body.replace(f'"{mark}"'.encode(), odd))


def _replaced(whole: Any, random: Random, other: Any) -> Any:
    if isinstance(whole, dict) and whole and random.random() < 0.9:
        name = random.choice(list(whole))
        if random.random() < 0.15:
            return whole | {random.choice(TEXTS): other}
        return whole | {name: _replaced(whole[name], random, other)}
    if isinstance(whole, list) and whole and random.random() < 0.9:
        place = random.randrange(len(whole))
        inner = _replaced(whole[place], random, other)
        return [*whole[:place], inner, *whole[place + 1 :]]
    return other


MUTATIONS: tuple[tuple[Callable[[Asked, Random], Asked], int], ...] = (
    (_value, 8),
    (_segment, 3),
    (_query, 3),
    (_header, 4),
    (_bytes, 2),
    (_method, 2),
    (_cut, 1),
    (_nested, 1),
    (_outside, 1),
)


def malformed(random: Random) -> Asked:
    """A request with something wrong, most likely."""
    asked = valid(random)
    kinds, weights = zip(*MUTATIONS, strict=True)
    for mutate in random.choices(kinds, weights, k=random.choice((1, 1, 1, 2, 3))):
        asked = mutate(asked, random)
    return asked
