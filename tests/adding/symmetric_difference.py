"""A set operation that Tidemill does not have, added by the steps of CONTRIBUTING.md.

Of a row that the sides have a and b times, |a - b| copies are left.
"""

from __future__ import annotations

from tests.adding.tree import Tree

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


def add_to(tree: Tree) -> None:
    """Add the operation to a copy of the sources."""
    tree.append("algebra/sets.py", LOGICAL)
    tree.list_after("algebra/__init__.py", "StrictDifference", "SymmetricDifference")
    tree.list_after("algebra/__init__.py", '"StrictDifference"', '"SymmetricDifference"')
    tree.list_after("reference/sets.py", "StrictDifference", "SymmetricDifference")
    tree.edit("reference/sets.py", "\nCombine =", DEFINITION)
    defined = "SymmetricDifference: symmetric_difference"
    tree.list_after("reference/sets.py", "MaxUnion: max_union", defined)
    tree.append("physical/operators/sets.py", OPERATOR)
    name = "StrictDifferenceExec"
    tree.edit("runtime/codec/names.py", f'{name}",', f'{name} SymmetricDifferenceExec",')
    tree.append("optimize/cost/copies.py", ESTIMATE)
    tree.list_after("compose/logical/sets.py", "StrictDifference", "SymmetricDifference")
    tree.edit("compose/logical/sets.py", ")\n\nOPERATORS =", CARD)
    tree.edit("compose/sql/meetings.py", "from sqlglot import exp\n", IMPORT)
    words = "    @meeting_rule.register\n    def _max_union("
    tree.edit("compose/sql/meetings.py", words, WORDS)
