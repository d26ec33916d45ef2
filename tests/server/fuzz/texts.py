"""SQL as it should be, and what can be done to it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from tests.server.fuzz.asking import Asked, sent
from tests.server.fuzz.values import NUMBERS, TEXTS

ROOT = Path(__file__).parents[3]
FILES = (
    "tests/sql/fixtures/valid.sql",
    "tests/analyze/meaning.sql",
    "examples/auction/*.sql",
    "examples/csv/*.sql",
)
OWN = """
SELECT item, MAX(price) AS price FROM bid [RANGE 10] GROUP BY item
SELECT COUNT(*) AS n, AVG(price) AS mean FROM bid [RANGE 5 SLIDE 5] WHERE bidder <> 'bob'
SELECT b.item, c.page FROM bid [RANGE 9] AS b JOIN bid [ROWS 3] AS c2 ON b.item = c2.item
SELECT page, SUM(cost) AS cost FROM click [RANGE 1 MINUTE] GROUP BY page HAVING SUM(cost) > 1
SELECT ISTREAM(item, price) FROM bid [PARTITION BY item ROWS 2]
SELECT item FROM bid WHERE EXISTS (SELECT * FROM blocked AS k WHERE k.bidder = bid.bidder)
SELECT item FROM bid UNION ALL SELECT item FROM dear
CREATE STREAM s (a BIGINT, b DECIMAL(20, 3), t TIMESTAMP) ORDERED BY t SLACK 2 MINUTES
CREATE RELATION r (a INT BETWEEN 1 AND 5, b DOUBLE) CHANGING
CREATE STREAM d AS SELECT item, price * 2 AS twice FROM bid
CREATE QUERY q AS SELECT item FROM bid; START QUERY q
ALTER QUERY highest AS SELECT item, MIN(price) AS price FROM bid [RANGE 20] GROUP BY item
ALTER QUERY highest OPTIMIZE; STOP QUERY q; DROP QUERY q
INSERT INTO blocked VALUES ('ann', 'spam') AT 7; DELETE FROM blocked WHERE reason = 'spam' AT 9
INSERT INTO console() SELECT item FROM bid
DROP STREAM s; DROP STREAM d; DROP RELATION r
SELECT CASE WHEN price > 1 THEN 'a' ELSE UPPER(bidder) END AS x, price / (item - 1) AS y FROM bid
CREATE STREAM soon (a BIGINT, t TIMESTAMP) ORDERED BY t AT MOST 5 MINUTES AHEAD; DROP STREAM soon
SELECT reverse(upper(reverse(upper(reverse(bidder))))) AS x, bidder || bidder AS y FROM bid
SELECT item FROM bid WHERE item IN (1, 2, 3, 4, 5) AND length(rpad(bidder, 9, 'x')) > 3 OR item = 1
CREATE STREAM f (a BIGINT, at BIGINT) SOURCE csv(path => '{../closed/in}') ORDERED BY at
CREATE RELATION p (a BIGINT) SOURCE postgres(url => 'postgresql:///shop', table => 't')
SELECT CAST(bidder AS BIGINT) AS n, SUBSTR(bidder, -1, 99999999999) AS s FROM bid
"""

_TOKEN = re.compile(r"\s+|\w+|'[^']*'|`[^`]*`|.", re.DOTALL)
WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "JOIN", "ON", "AS", "RANGE", "ROWS", "SLIDE", "NOW"),
    *("UNBOUNDED", "PARTITION BY", "ISTREAM", "WITH", "UNION ALL", "EXCEPT", "NULL", "IN", "NOT"),
    *("SOURCE", "SINK", "START QUERY", "DROP", "CREATE", "ALTER", "INTERVAL", "CAST", "OVER"),
    *("bid", "click", "blocked", "dear", "highest", "item", "price", "at", "ts", "COUNT(*)"),
    *("MINUTES", "YEARS", "DATE '2024-02-30'", "TIMESTAMP 'x'", "1/0", "?", ":a", "{{x}}", "$1"),
    *("LIMIT", "ORDER BY", "MAX", "SUM", "REGEXP", "LIKE", "repeat('x', 1000000000)", "ARRAY[1]"),
    *("reverse(", "CAST(CAST(", "lpad('x', 2000000000, 'y')", "AT MOST", "AHEAD", "current_user()"),
    *("(", ")", "[", "]", "{", "}", ";", ",", "=", "=>", "*", "--", "/*", "'", '"', "`", "\\"),
)


@cache
def texts() -> tuple[str, ...]:
    """Texts that are right, for some catalog or other."""
    files = [each for pattern in FILES for each in sorted(ROOT.glob(pattern))]
    found = [line for line in OWN.splitlines() if line]
    for file in files:
        text = file.read_text()
        whole = file.parent.parent.name == "examples"
        found += [text] if whole else [line for line in text.splitlines() if line.strip()]
    return tuple(found)


def _another(tokens: list[str], random: Random) -> list[str]:
    """Replace, remove, repeat or swap a token, or put in some of another text."""
    place, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(7):
        case 0:
            return tokens[:place] + tokens[place + 1 :]
        case 1:
            return [*tokens[:place], tokens[place], *tokens[place:]]
        case 2:
            tokens[place], tokens[other] = tokens[other], tokens[place]
            return tokens
        case 3:
            donor = _TOKEN.findall(random.choice(texts()))
            start = random.randrange(len(donor))
            return tokens[:place] + donor[start : start + random.randrange(1, 9)] + tokens[place:]
        case 4:
            number = str(random.choice(NUMBERS))
            return [number if each.isdigit() else each for each in tokens]
        case 5:
            return [*tokens[:place], _odd(random), *tokens[place + 1 :]]
    return [*tokens[:place], " ", random.choice(WORDS), " ", *tokens[place:]]


def _odd(random: Random) -> str:
    text = random.choice(TEXTS)
    return random.choice((text, f"'{text}'", f"`{text}`", f'"{text}"', random.choice(WORDS)))


def _huge(random: Random) -> str:
    """A text that is deeper or longer than anybody needs."""
    size = random.choice((50, 300, 2000, 20_000))
    return random.choice(
        (
            f"SELECT {'(' * size}1{')' * size} AS a FROM bid",
            f"SELECT {'-' * (size // 2)}item AS a FROM bid",
            f"SELECT {' + '.join(['item'] * size)} AS a FROM bid",
            f"SELECT {'NOT ' * size}TRUE AS a FROM bid",
            f"SELECT item FROM bid WHERE item IN ({', '.join(map(str, range(size)))})",
            f"SELECT {'CASE WHEN TRUE THEN ' * size}1{' END' * size} AS a FROM bid",
            f"SELECT * FROM {'(SELECT * FROM ' * (size // 20)}bid{')' * (size // 20)}",
            "SELECT item FROM bid" + " UNION ALL SELECT item FROM bid" * (size // 20),
            f"SELECT item AS {'a' * size} FROM bid",
            ";" * size,
            "SELECT item FROM bid;" * (size // 20),
            f"CREATE STREAM wide ({', '.join(f'c{n} INT' for n in range(size // 10))})",
        )
    )


def malformed_sql(random: Random) -> str:
    """A text with something wrong, most likely."""
    if random.random() < 0.003:
        return _huge(random)
    tokens = _TOKEN.findall(random.choice(texts()))
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        tokens = _another(tokens or ["a"], random)
    text = "".join(tokens)
    return text[: random.randrange(len(text) + 1)] if random.random() < 0.1 else text


def asked_with(sql: str, random: Random) -> Asked:
    """A request that brings a text."""
    match random.randrange(8):
        case 0 | 1:
            return sent("POST", "/api/statements", {"sql": sql})
        case 2:
            return sent("POST", "/api/plan", {"sql": sql})
        case 3:
            return sent("POST", "/api/run", {"sql": sql, "limit": 5})
        case 4:
            name = f"n{random.randrange(9)}"
            return sent("POST", "/api/queries", {"name": name, "sql": sql})
        case 5:
            return sent("PATCH", "/api/queries/highest", {"sql": sql})
    return sent("POST", "/api/check", {"sql": sql})
