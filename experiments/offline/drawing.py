"""Memory-state graphs to look at: as text, or drawn with Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.offline.graphs import MemoryGraph, Path, State

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE, BEST = "#CCCCCC", "#D55E00"
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
BLANK = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
WEIGHT: dict[str, Any] = {**CENTRED, "color": BEST, "fontsize": 8, "bbox": BLANK}


def as_text(graph: MemoryGraph, name: str = "r") -> str:
    """A line for each instant: its states, the best weight up to each, and a star on a best path.

    >>> from experiments.offline.graphs import Arrival, Fact
    >>> r, s = [Arrival(0, 1, 5), Arrival(1, 1, 2)], [Arrival(1, 7, 3), Arrival(2, 7, 9)]
    >>> print(as_text(MemoryGraph(r, s, [Fact(1, 7)], slots=1, life=4)))
    0  *{r0} 0
    1  *{r0} 3  {r1} 0
    2  *{r0} 8  {r1} 2
    """
    path = next(graph.paths())
    lines = []
    for t, layer, best in zip(graph.instants, graph.layers, path, strict=True):
        states = (f"{'*' * (s == best)}{_label(s, name)} {layer[s]:g}" for s in sorted(layer))
        lines.append(f"{t}  {'  '.join(states)}")
    return "\n".join(lines)


def draw(graph: MemoryGraph, axes: Axes, name: str = "r") -> None:
    """States as columns, one for each instant; a best path in colour, with what its edges weigh."""
    path = next(graph.paths())
    heights = [
        {state: (len(layer) - 1) / 2 - row for row, state in enumerate(sorted(layer))}
        for layer in graph.layers
    ]
    for at in range(1, len(heights)):
        _edges(graph, axes, at, heights[at - 1], heights[at], path)
    for at, (layer, rows) in enumerate(zip(graph.layers, heights, strict=True)):
        for state, height in rows.items():
            text = f"{_label(state, name)}\n{layer[state]:g}"
            colour = BEST if state == path[at] else "#888888"
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
            axes.text(at, height, text, **CENTRED, fontsize=7, bbox=box)
    most = max(map(len, heights), default=1)
    axes.set(xlim=(-0.5, len(heights) - 0.5), ylim=(-most / 2, most / 2), yticks=[])
    axes.set_xticks(range(len(heights)), [str(t) for t in graph.instants])
    axes.set_xlabel("after instant")


def _edges(
    graph: MemoryGraph,
    axes: Axes,
    at: int,
    before: dict[State, float],
    after: dict[State, float],
    path: Path,
) -> None:
    t = graph.instants[at]
    for state, height in before.items():
        for successor in graph.successors(state, t):
            best = (state, successor) == path[at - 1 : at + 1]
            ends = (height, after[successor])
            axes.plot((at - 1, at), ends, color=BEST if best else EDGE, zorder=1 + best)
            weight = graph.weight(successor, t)
            if best and weight:
                axes.text(at - 0.5, sum(ends) / 2, f"+{weight:g}", **WEIGHT)


def _label(state: State, name: str) -> str:
    return "{" + " ".join(f"{name}{number}" for number in state) + "}"
