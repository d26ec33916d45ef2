"""A set operation that Tidemill does not have, added by the steps of CONTRIBUTING.md.

Of a row that the sides have a and b times, |a - b| copies are left.
"""

from __future__ import annotations

from pathlib import Path

LOGICAL = '''

@dataclass(frozen=True)
class SymmetricDifference(SetOperation):
    """The copies that one side has beyond those of the other."""

    facts = SetFacts(
        called="the symmetric difference",
        sides=Sides.EITHER,
        adds_copies=False,
        drops_rows=True,
        keeps_alone=True,
        grows_with=(False, False),
    )
'''

DEFINITION = '''
def symmetric_difference(a: Snapshot, b: Snapshot) -> Snapshot:
    """The copies that one has beyond those of the other."""
    return (a - b) + (b - a)


Combine ='''

OPERATOR = '''

@dataclass(frozen=True)
class SymmetricDifferenceExec(CountingExec):
    """Keep the copies that one side has beyond those of the other."""

    LOGICAL = sets.SymmetricDifference

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        copies: Array = np.abs(left - right)
        return copies
'''

ESTIMATE = '''

@_estimates(sets.SymmetricDifference)
def symmetric_difference(
    left: Characteristics, right: Characteristics, values: float
) -> Characteristics:
    """What is left of either side, which are never of the same row."""
    here, there = difference(left, right, values), difference(right, left, values)
    live = here.live_rows + there.live_rows
    return Characteristics.of_rate(here.rate + there.rate, live, _granule(left, right))
'''

CARD = """    SetCard(
        SymmetricDifference,
        "Symmetric difference",
        "The copies of each row that one input has beyond those of the other.",
    ),
)

OPERATORS ="""

WORDS = """    @meeting_rule.register
    def _symmetric_difference(self, plan: SymmetricDifference) -> Block:
        sides = Difference(plan.left, plan.right), Difference(plan.right, plan.left)
        return self.block(Union(*sides))

    @meeting_rule.register
    def _max_union("""


IMPORT = """from sqlglot import exp

from tidemill.algebra import SymmetricDifference
"""


def add_to(source: Path) -> set[str]:
    """Add the operation to a copy of the sources; the files that were touched."""
    touched: set[str] = set()

    def edit(name: str, old: str, new: str) -> None:
        path = source / name
        text = path.read_text()
        assert old in text, f"{name} has changed: {old!r}"
        path.write_text(text.replace(old, new, 1))
        touched.add(name)

    def append(name: str, text: str) -> None:
        path = source / name
        path.write_text(path.read_text() + text)
        touched.add(name)

    def list_after(name: str, known: str, new: str) -> None:
        edit(name, f"    {known},\n", f"    {known},\n    {new},\n")

    append("algebra/sets.py", LOGICAL)
    list_after("algebra/__init__.py", "StrictDifference", "SymmetricDifference")
    list_after("algebra/__init__.py", '"StrictDifference"', '"SymmetricDifference"')
    list_after("reference/sets.py", "StrictDifference", "SymmetricDifference")
    edit("reference/sets.py", "\nCombine =", DEFINITION)
    defined = "SymmetricDifference: symmetric_difference"
    list_after("reference/sets.py", "MaxUnion: max_union", defined)
    append("physical/sets.py", OPERATOR)
    name = "StrictDifferenceExec"
    edit("runtime/codec/names.py", f'{name}",', f'{name} SymmetricDifferenceExec",')
    append("optimize/cost/copies.py", ESTIMATE)
    list_after("compose/logical/sets.py", "StrictDifference", "SymmetricDifference")
    edit("compose/logical/sets.py", ")\n\nOPERATORS =", CARD)
    edit("compose/sql/meetings.py", "from sqlglot import exp\n", IMPORT)
    edit("compose/sql/meetings.py", "    @meeting_rule.register\n    def _max_union(", WORDS)
    return touched
