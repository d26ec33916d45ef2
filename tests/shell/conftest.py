import io
from collections.abc import Iterator

import pytest

from tidemill.shell import EmbeddedBackend, Printer, Session
from tidemill.terminal.tables import Format

BIDS = """\
CREATE STREAM bid (item STRING, price BIGINT, minute BIGINT) ORDERED BY minute;
CREATE QUERY hot AS
SELECT item, COUNT(*) AS bids, MAX(price) AS best FROM bid WINDOW(RANGE 5) GROUP BY item;
"""


class Said:
    """A session, with what it printed since one last looked: results, and notes beside them."""

    def __init__(self, session: Session, out: io.StringIO, notes: io.StringIO) -> None:
        self.session = session
        self._out, self._notes = out, notes

    def __call__(self, text: str) -> bool:
        return self.session.run(text)

    def clear(self) -> None:
        """Forget what was printed so far."""
        _taken(self._out), _taken(self._notes)

    @property
    def out(self) -> str:
        return _taken(self._out)

    @property
    def notes(self) -> str:
        return _taken(self._notes)


def _taken(stream: io.StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.fixture
def backend() -> Iterator[EmbeddedBackend]:
    backend = EmbeddedBackend()
    yield backend
    backend.close()


@pytest.fixture
def say(backend: EmbeddedBackend) -> Said:
    return said(backend)


def said(backend: EmbeddedBackend, format: Format = Format.TABLE) -> Said:
    out, notes = io.StringIO(), io.StringIO()
    return Said(Session(backend, Printer(out, notes, format)), out, notes)
