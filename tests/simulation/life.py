"""The life of a graph on a disk and a fabric that fail, with clients that push rows into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.checking.plans import Inputs
from tests.checking.sources import opener
from tests.random.graphs import KNOWN, Crash, GraphLife
from tests.simulation.clients import Client
from tests.simulation.disk import SimulatedDisk
from tests.simulation.fabric import Attempt, LostError, any_fabric
from tidemill.algebra import Plan
from tidemill.errors import DamageError
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.migrations import Migrations
from tidemill.graph.query_graph import QueryGraph
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.run import Run
from tidemill.runtime.sources import Source, StreamSource
from tidemill.store import Durability, Store
from tidemill.timeline import OPEN_END


class SimulatedLife(GraphLife):
    """A graph whose process dies again and again; whatever it has acknowledged stays."""

    def __init__(
        self, inputs: Inputs, random: Random, disk: SimulatedDisk, kills: bool = True
    ) -> None:
        self.disk = disk
        self._kills = kills
        self._using: list[Callable[[], None]] = []
        self._zombies: list[Attempt] = []
        self.stopped: set[str] = set()
        self.unsure: dict[str, int] = {}
        """Queries whose change was not acknowledged; how far answers go if they are gone."""
        self.durability: Durability = random.choice(["machine"] * 3 + ["process"] * kills)
        self.clients = {name: Client(name, rows) for name, rows in inputs.streams.items()}
        try:
            super().__init__(inputs, random, f"{disk.root}/run", self._fabric)
        except Crash:
            self.restart()

    def _fabric(self, partitions: int, random: Random) -> Fabric:
        return any_fabric(partitions, random, self._zombies)

    # Opening

    def _open(self) -> None:
        self.store = Store(self.folder, self.durability)  # type: ignore[assignment]
        fabric = self._make(self.partitions, self.random)
        self._using.append(self.store.close)
        sources = opener(self._sources())
        self.run = Run(fabric, sources, self.store, known=KNOWN, partitions=self.partitions)
        self._using.append(self.run.stop)
        self._note_positions()
        self.graph = QueryGraph(self.run)
        self.adaptation = Adaptation(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)

    def _sources(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for name, source in self.inputs.sources(None, self.retain).items():
            pushed = isinstance(source, StreamSource)
            found[name] = self.clients[name].opened(source, self.store) if pushed else source
        return found

    def _note_positions(self) -> None:
        """Take note of what the last tick has read: whatever is done makes one tick at most."""
        for name, stream in self.run._opened.streams.items():
            self.clients[name].ticked(stream.position)

    # What is done

    def attempt(self, action: Callable[[], None]) -> None:
        """Do something, and if the process dies with it, go on from what is left."""
        try:
            action()
        except Crash:
            self.story.append("  the process dies with that")
            self.restart()
        except LostError as error:
            self.story.append(f"  {error.message}")
        except OSError as error:
            if self.disk.root not in str(error):
                raise
            self.story.append(f"  {error}")
        self._note_positions()
        self.disk.heal()

    def push(self) -> None:
        """Let one of the clients do what it wants to do next."""
        busy = [client for client in self.clients.values() if not client.is_closed]
        if busy:
            client = self.random.choice(busy)
            self.story.append(client.wants)
            client.act()

    def add(self, plan: Plan) -> None:
        name = f"q{len(self.lives)}"
        self.unsure[name] = 0
        self.story.append(f"add {name}")
        super().add(plan)
        self.unsure.pop(name)

    def remove(self) -> None:
        if not self.graph.running:
            return
        name = self.random.choice(sorted(self.graph.running))
        self.story.append(f"remove {name}")
        life, query = self.lives[name], self.graph.find(name)
        # Next to its source, a part is where the stream is, even before its first tick.
        until = self.run.nodes[query.root.running].watermark if life.has_ticked else 0
        self.unsure[name] = until
        self.graph.remove(name)
        self._gone(name)

    def _gone(self, name: str) -> None:
        until = self.unsure.pop(name)
        if name in self.lives:
            self.lives[name].until = until
            self.stopped.add(name)

    def tick(self) -> None:
        self.story.append("make a tick")
        super().tick()
        failed = [q.error for q in self.graph.queries.values() if q.error is not None]
        assert not failed, f"queries have failed: {failed}"

    # What goes wrong

    def restart(self) -> None:
        """Go on after a power cut or a kill, perhaps after further ones in the middle of that."""
        while True:
            self._die()
            try:
                self._begin_to_fail()
                self._go_on()
            except (Crash, LostError):
                self.story.append("  the process dies with that")
            except DamageError as error:
                if not self.disk.unreadable or self.disk.unreadable not in error.message:
                    raise
                self.story.append(f"  {error.message}")
            else:
                return

    def close(self) -> None:
        """The process is gone: nothing that it still does has an effect."""
        self.disk.die()
        for each in self._using:
            each()
        self._using = []

    def _die(self) -> None:
        self.close()
        is_kill = self.durability == "process" or (self._kills and self.random.random() < 0.3)
        self.story.append("kill" if is_kill else "power cut")
        if not is_kill:
            self.disk.cut_power()
            self._zombies.clear()
        self.disk.go_on()

    def _begin_to_fail(self) -> None:
        match self.random.choice(["cut", "cut", "unreadable", *[""] * 7]):
            case "cut":
                self.disk.cut_in = self.random.randrange(20)
            case "unreadable":
                self.disk.unreadable_in = self.random.randrange(10)

    def _go_on(self) -> None:
        wanted = self.lives.keys() - self.stopped - self.unsure.keys()
        self._open()
        self.disk.can_read()
        running = self.graph.running.keys()
        may_be = wanted | self.unsure.keys()
        assert wanted <= running <= may_be, f"{sorted(running)} run, not {sorted(wanted)}"
        for name in sorted(self.unsure.keys() - running):
            self._gone(name)
        for name in sorted(running & self.lives.keys()):
            life = self.lives[name]
            life.query = self.graph.add(name, life.job)
        self.graph.let_go()  # what was added and not acknowledged
        self.unsure = {}

    # The end

    def end(self) -> None:
        """Let clients and ticks come to their end, and hold all answers against the reference."""
        while any(not client.is_closed for client in self.clients.values()):
            self.attempt(self.push)
        while self.goes_on:
            self.attempt(self.tick)
        streams = {name: client.taken() for name, client in self.clients.items()}
        inputs = replace(self.inputs, streams=streams)
        for name, life in self.lives.items():
            # Where nobody was told whether a query is gone, it may have gone on or not.
            life.until = min(life.until, self.unsure.get(name, OPEN_END))
            life.check(inputs)
