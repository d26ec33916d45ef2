"""A PostgreSQL server of one's own: made in a fresh folder, stopped, killed and started at will."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

PASSWORD = "s3cr&t"  # an own one, so that it is noticed wherever it is shown
HOST = "127.0.0.1"


def find_binaries() -> Path | None:
    """Where initdb and pg_ctl are: on the PATH, or where Debian puts them."""
    if (on_path := shutil.which("initdb")) is not None:
        return Path(on_path).resolve().parent
    versions = [
        path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()
    ]
    return max(versions, key=lambda path: int(path.parent.name.split(".")[0]), default=None)


class PostgresServer:
    """A server that only this test run uses."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._user = _unprivileged() if os.getuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="tidemill-postgres-"))
        self.port = _free_port()
        try:
            self._make()
        except BaseException:
            self.remove()
            raise

    def _make(self) -> None:
        password = self._folder / "password"
        password.write_text(PASSWORD)
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            for path in (self._folder, password):
                os.chown(path, account.pw_uid, account.pw_gid)
        arguments = ["-U", "postgres", f"--pwfile={password}", "-A", "scram-sha-256", "-E", "UTF8"]
        self._run("initdb", ["-D", str(self._data), "--no-sync", "--locale=C.UTF-8", *arguments])
        settings = {
            "port": self.port,
            "listen_addresses": f"'{HOST}'",
            "unix_socket_directories": f"'{self._folder}'",
            "fsync": "off",
            "max_prepared_transactions": 5,
        }
        with open(self._data / "postgresql.auto.conf", "a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def start(self) -> None:
        log = str(self._folder / "log")
        self._run("pg_ctl", ["-D", str(self._data), "-w", "-l", log, "start"])

    def stop(self, mode: str = "immediate") -> None:
        """End the server: `immediate` as if it had crashed, `fast` in order."""
        self._run("pg_ctl", ["-D", str(self._data), "-w", "-m", mode, "stop"])

    def stand_by(self) -> None:
        """Start again as a server that only follows another."""
        self.stop("fast")
        (self._data / "standby.signal").touch()
        self.start()

    def promote(self) -> None:
        """Follow no more."""
        self._run("pg_ctl", ["-D", str(self._data), "-w", "promote"])

    @property
    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}:{PASSWORD}@{HOST}:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(database), autocommit=True)

    def make_database(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")

    def _run(self, program: str, arguments: Sequence[str]) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server would keep a pipe open
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=60,
        )
        if done.returncode:
            log = self._folder / "log"
            said = log.read_text("utf-8", "replace")[-2000:] if log.exists() else "nothing"
            raise RuntimeError(f"{program} failed ({done.returncode}); the server said: {said}")


def _unprivileged() -> str:
    """Who runs the server where everything else runs as root, which servers refuse."""
    known = {account.pw_name for account in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
