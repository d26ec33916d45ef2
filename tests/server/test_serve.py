"""The real `tidemill serve`, killed and stopped."""

import signal
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.server.conftest import BIDS
from tests.server.process import ServerProcess

ROWS = [{"item": 1, "price": 1.0, "at": at} for at in (1, 5, 8, 30)]


@pytest.fixture
def process(tmp_path):
    found = ServerProcess(tmp_path, BIDS, "--dir", str(tmp_path / "kept"), "--every", "50 ms")
    yield found
    if found.is_running:
        found.process.kill()
        found.process.wait()


def test_what_was_acknowledged_survives_a_kill_and_a_signal_ends_it_well(process):
    process.start()
    process.push("bid", ROWS[:3], wait=True)
    before = process.get("queries/hot/results")
    assert before["rows"] == [[1, 1], [1, 2]]
    process.stop(signal.SIGKILL)

    process.start()
    assert process.get("queries/hot/results") == before
    process.push("bid", ROWS[3:], wait=True)
    assert process.get("queries/hot/snapshot", at=9)["rows"] == [[1, 3]]
    with connect(f"ws://127.0.0.1:{process.port}/api/live") as socket:
        socket.send('{"subscribe": ["queries"], "every": 50}')
        assert socket.recv(timeout=10)
        began = time.monotonic()
        assert process.stop(signal.SIGTERM) == 0
        assert time.monotonic() - began < 5
        with pytest.raises(ConnectionClosed) as closed:
            _drain(socket)
    assert closed.value.rcvd.code == 1001


def _drain(socket):
    while True:
        socket.recv(timeout=10)
