"""A file that nobody may read through the server, and the disguises in which it is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import quote

from tests.server.fuzz.asking import Asked, sent

TOKEN = "a-token-that-nobody-sees"
WORD = "kept-under-lock-and-key"

_COLUMNS = "(item BIGINT, price DOUBLE, bidder STRING, at BIGINT)"


@dataclass(frozen=True)
class Secrets:
    """Files besides a folder that is allowed, and a link to them within it."""

    folder: Path

    @property
    def allowed(self) -> Path:
        """The folder that may be read."""
        return self.folder / "allowed"

    @property
    def texts(self) -> tuple[bytes, ...]:
        """What must never be told."""
        return (WORD.encode(), TOKEN.encode())

    def make(self) -> Secrets:
        """Write them."""
        self.allowed.mkdir()
        (self.folder / "hidden").mkdir()
        row = f'{{"item": 1, "price": 2.0, "bidder": "{WORD}", "at": 3}}\n'
        for folder in (self.folder, self.folder / "hidden"):
            (folder / "secret.csv").write_text(f"item,price,bidder,at\n1,2.0,{WORD},3\n")
            (folder / "secret.json").write_text(row)
            (folder / "secret.txt").write_text(f"{WORD}\n")
        (self.allowed / "open.csv").write_text("item,price,bidder,at\n1,2.0,ann,3\n")
        (self.allowed / "way").symlink_to(self.folder / "hidden")
        return self

    def paths(self) -> list[str]:
        """The same files, differently called."""
        secret = self.folder / "secret.csv"
        plain = [secret, secret.with_suffix(".json"), secret.with_suffix(".txt")]
        up = [f"{self.allowed}/../secret.csv", f"{self.allowed}/./../allowed/../secret.csv"]
        links = [f"{self.allowed}/way/secret.csv", f"{self.allowed}/way", f"{self.allowed}/way/*"]
        globs = [f"{self.folder}/*.csv", f"{self.folder}/s?cret.csv", f"{self.folder}/[s]*.csv"]
        globs += [f"{self.folder}/{{secret,x}}.csv", f"{self.folder}/**", f"{self.folder}"]
        globs += [f"{self.allowed}/*/../../secret.csv", f"{self.allowed}/*/secret.csv"]
        globs += [f"{self.allowed}/**/secret.csv", f"{self.allowed}/w*/*.csv"]
        urls = [
            f"file:{secret}",
            f"file://{secret}",
            f"FILE:///{secret}",
            f"file://localhost{secret}",
        ]
        urls += [f"file:{quote(str(secret), safe='')}", f"file://{self.allowed}/%2e%2e/secret.csv"]
        lists = [f"{self.allowed}/open.csv,{secret}", f"{secret}\0", f" {secret}", f"{secret} "]
        relative = os.path.relpath(secret)
        return [*map(str, plain), *up, *links, *globs, *urls, *lists, relative, f"./{relative}"]

    def stories(self, random: Random) -> list[Asked]:
        """Requests that together would tell a secret, if they could."""
        path = random.choice(self.paths()).replace("'", "''")
        format = random.choice(("csv", "CSV", "json", "text", "parquet", "`csv`", "orc", "binary"))
        option = random.choice(("path", "PATH", "`path`", "Path"))
        call = f"{format}({option} => '{path}')"
        name = f"leak{random.randrange(1000)}"
        match random.randrange(3):
            case 0:
                return self.reading(call, name)
            case 1:
                return self._writing(call, name)
        return self._functions(path)

    def reading(self, call: str, name: str) -> list[Asked]:
        """Try to read from a file, at once and in a query that runs."""
        query = f"SELECT * FROM {name}"
        return [
            self._run(f"CREATE STREAM {name} {_COLUMNS} SOURCE {call} ORDERED BY at"),
            self._run(f"CREATE RELATION {name}r {_COLUMNS} SOURCE {call}"),
            sent("POST", "/api/run", {"sql": query}),
            sent("POST", "/api/run", {"sql": f"{query}r"}),
            sent("POST", "/api/queries", {"name": f"{name}q", "sql": query}),
            sent("POST", "/api/queries", {"name": f"{name}s", "sql": f"{query}r"}),
            sent("POST", "/api/streams/bid/rows", [{"item": 1, "at": 10**6}], "wait=true"),
            sent("GET", f"/api/queries/{name}q"),
            sent("GET", f"/api/queries/{name}q/results"),
            sent("GET", f"/api/queries/{name}s/results"),
            sent("GET", "/api/catalog"),
            sent("GET", "/api/resources"),
            self._run(f"DROP QUERY {name}q"),
            self._run(f"DROP QUERY {name}s"),
        ]

    def _writing(self, call: str, name: str) -> list[Asked]:
        return [
            self._run(f"INSERT INTO {call} SELECT item FROM bid"),
            self._run(f"CREATE QUERY {name} AS INSERT INTO {call} SELECT item FROM bid"),
            self._run(f"START QUERY {name}"),
            self._run(f"ALTER QUERY highest AS INSERT INTO {call} SELECT item FROM bid"),
            sent(
                "POST", "/api/queries", {"name": name, "sql": f"INSERT INTO {call} SELECT 1 AS a"}
            ),
            sent("POST", "/api/check", {"sql": f"INSERT INTO {call} SELECT item FROM bid"}),
            self._run(f"DROP QUERY {name}"),
        ]

    def _functions(self, path: str) -> list[Asked]:
        """What the engines below would understand."""
        texts = (
            f"SELECT * FROM read_csv('{path}')",
            f"SELECT * FROM '{path}'",
            f"SELECT * FROM csv.`{path}`",
            f"SELECT * FROM `{path}`",
            f"SELECT read_text('{path}') AS a FROM bid",
            f"SELECT item, (SELECT content FROM read_text('{path}')) AS a FROM bid",
            f"COPY bid FROM '{path}'",
            f"ATTACH '{path}' AS a",
            f"LOAD '{path}'",
            "SELECT getenv('TIDEMILL_TOKEN') AS a, current_setting('x') AS b FROM bid",
            "PRAGMA database_list",
            "SET allow = '/'",
        )
        runs = [sent("POST", "/api/run", {"sql": each}) for each in texts]
        return [*map(self._run, texts), *runs, *(self._plan(each) for each in texts)]

    def _run(self, sql: str) -> Asked:
        return sent("POST", "/api/statements", {"sql": sql})

    def _plan(self, sql: str) -> Asked:
        return sent("POST", "/api/plan", {"sql": sql})
