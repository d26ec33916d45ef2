"""Composed plans of nonsense: what a page, or anyone, might send."""

from __future__ import annotations

from random import Random
from typing import Any

from tidemill.compose import operators

_TEXTS = [
    *("", " ", "bid", "ask", "b", "rel", "item", "price", "b.price", "`#id`", "at", "*", "5", "0"),
    *("-1", "1e9", "99999999999999999999", "5 MINUTES", "5 MONTHS", "UNBOUNDED", "price > 1", "é"),
    *(
        "item = 'x'",
        "COUNT(*) AS n",
        "SUM(price)",
        "SUM(DISTINCT item)",
        "MAX(COUNT(*))",
        "price DESC",
    ),
    *(
        "(SELECT 1)",
        "1 FROM x; DROP STREAM bid",
        "bid.item = ask.item",
        "a = b = c",
        "item AS item",
    ),
    *("'", "`", "(", ")", "--", "/*", "RAND()", "price / 0", "CAST(price AS STRING)", "\x00", "\n"),
    *(
        "item, price",
        "price AS `a.b`",
        "valid_from",
        "1 AS valid_to",
        "NULL",
        "TRUE",
        "yes",
        "left",
    ),
    *(
        "leave out",
        "as a column",
        "inner",
        "anti",
        "hash",
        "nested loop",
        "0 1; 1 0",
        "exact",
        "1.5",
    ),
    *("COUNT(*) FILTER (WHERE price > 1) AS high", "price IN (1, 2)", "unknown(price)", "price +"),
]
_VALUES: list[Any] = [None, True, 3, -7, 2.5, 10**30, [], [""], ["item", "price"], [1, 2], {"a": 1}]


def random_composed(random: Random) -> dict[str, Any]:
    """A plan of some level, often with a sense in its beginning."""
    level = random.choice(["logical", "physical"])
    nodes = [_source(random, level, "n0"), _source(random, level, "n1")]
    kinds = operators(level)
    for number in range(2, random.randint(2, 9)):
        operator = random.choice(kinds)
        known = [node["id"] for node in nodes]
        inputs = _inputs(random, known, operator["inputs"]["min"], f"n{number}")
        settings = {each["name"]: _value(random, each) for each in operator["settings"]}
        kind = operator["kind"] if random.random() < 0.97 else "nothing"
        node = {"id": f"n{number}", "kind": kind, "settings": settings, "inputs": inputs}
        nodes.append(node)
    output = random.choice([None, nodes[-1]["id"], nodes[-1]["id"], "n99"])
    kept = _used(nodes) if random.random() < 0.8 else nodes
    return {"level": level, "nodes": kept, "output": output}


def _inputs(random: Random, known: list[str], wanted: int, own: str) -> list[str]:
    """As many as are wanted, mostly the newest; now and then something else."""
    if random.random() < 0.06:
        return [random.choice([*known, "n99", own]) for _ in range(random.randint(0, 3))]
    return random.sample(known[-2:], min(wanted, 2))


def _used(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the last node needs."""
    used = {nodes[-1]["id"]}
    for node in reversed(nodes):
        used |= set(node.get("inputs", ())) if node["id"] in used else set()
    return [node for node in nodes if node["id"] in used]


def _source(random: Random, level: str, id: str) -> dict[str, Any]:
    kind = "scan" if level == "logical" else "source"
    settings = {"source": random.choice(["bid", "ask", "rel", "ticket"]), "alias": id}
    return {"id": id, "kind": kind, "settings": settings}


def _value(random: Random, setting: dict[str, Any]) -> Any:
    chance = random.random()
    if chance < 0.3 and not setting["required"]:
        return None
    if chance < 0.85 and setting["example"]:
        return setting["example"].replace(" MINUTES", "").replace("b.", "n0.").replace("a.", "n1.")
    if chance < 0.9:
        return random.choice(_VALUES)
    if chance < 0.95:
        return [random.choice(_TEXTS) for _ in range(random.randint(0, 3))]
    return random.choice(_TEXTS)
