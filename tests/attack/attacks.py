"""All attacks, with how often each is tried in full."""

from __future__ import annotations

from tests.attack import disks, kills
from tests.attack.requests import requests
from tests.attack.tally import Attack, Tally, run

ATTACKS: dict[str, Attack] = {
    "kills of drivers on Spark, graph": kills.drivers("graph", "spark", 60),
    "kills of drivers on Spark, files": kills.drivers("files", "spark", 40),
    "kills of workers": kills.workers,
    "kills of executors": kills.executors,
    "requests": requests,
    "kills of drivers, graph": kills.drivers("graph", "inprocess", 400),
    "kills of drivers, files": kills.drivers("files", "inprocess", 300),
    "kills of servers": kills.servers,
    "damages": disks.damages,
    "damages of servers": disks.server_damages,
    "power cuts": disks.power_cuts,
    "lives": disks.lives,
    "full disks": disks.full_disks,
}
"""The longest first: two of them are done at a time."""


def attack(name: str, share: float, seed: int) -> Tally:
    """Do one of them, in a process of its own."""
    return run(name, ATTACKS[name], share, seed)
