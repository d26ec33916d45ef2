"""Texts of queries that differ from one that runs only in constants: they need not be planned.

Where thousands of queries run as one plan, most of the time to add one more would go into reading
and planning its text, only to find the plan of the others and the constants of this one. A template
tells these from the text. It is learned from queries that were planned, and used for a text only
if nothing else can come of that: each constant that differs has differed before, and came out as
the template says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from tidemill.catalog import Catalog, SourceInfo
from tidemill.engine.query import KnownShape, Query
from tidemill.graph.shapes import relation_of
from tidemill.physical.operators.pick import Constants, PickExec

_LITERAL = re.compile(r"'[^']*'|(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_UNREAD = re.compile(r"[\"`\\;:?$#@]|--|/\*")
"""Comments, quoted names and parameters: texts with these are left to the parser."""
_SELECT = re.compile("select\\b", re.IGNORECASE)
_HOLE = "\0"
_BESIDE = re.compile(rf"\w{_HOLE}|{_HOLE}\w|{_HOLE}{_HOLE}")
_LONGEST = 15
"""Digits of a number that is a double without loss."""
_EDGES = (0, 7, 15, 31, 53, 63)
"""Bits of the largest numbers of types: what is larger may mean something else."""
_MOST = 4_096
_MOST_MISSES = 8

_Key = tuple[str, tuple[object, ...]]


@dataclass(frozen=True)
class Literals:
    """The literals of a text, in their order, and what is left without them."""

    rest: str
    values: tuple[str, ...]

    @property
    def pattern(self) -> tuple[object, ...]:
        """What a plan could depend on besides the values: their kinds, and how they compare.

        >>> read_literals("a > 5 AND b < 90").pattern == read_literals("a > 6 AND b < 77").pattern
        True
        >>> read_literals("a > 90 AND b < 5").pattern == read_literals("a > 6 AND b < 77").pattern
        False
        """
        known = [_value(text) for text in self.values]
        ranks = {value: rank for rank, value in enumerate(sorted(set(known)))}
        kinds = (_kind(text) for text in self.values)
        return (*(ranks[value] for value in known), *kinds)

    @cached_property
    def key(self) -> _Key:
        """What texts have in common that may share a template."""
        return self.rest, self.pattern

    @property
    def are_distinct(self) -> bool:
        return len({_value(text) for text in self.values}) == len(self.values)


def read_literals(text: str) -> Literals | None:
    """The literals of a text, if it is as simple as that.

    >>> read_literals("SELECT a FROM s WHERE a = 'lamp' AND b > 7").values
    ("'lamp'", '7')
    >>> read_literals("SELECT a FROM s -- 7") is None
    True
    """
    values = tuple(_LITERAL.findall(text))
    if _UNREAD.search(text) or any(map(_is_unusual, values)):
        return None
    rest = _LITERAL.sub(_HOLE, text)
    return None if _BESIDE.search(rest) else Literals(rest, values)


def _is_unusual(text: str) -> bool:
    if text.startswith("'"):
        return False
    if "." in text:
        return len(text) > _LONGEST
    return text != str(int(text))


def _value(text: str) -> tuple[bool, str | Decimal]:
    return (True, text) if text.startswith("'") else (False, Decimal(text))


def _kind(text: str) -> object:
    """Of which kind a literal is; 0, 1, powers of two and the empty string are on their own."""
    if text.startswith("'"):
        return text == "''"
    if "." in text:
        return re.sub(r"\d", "9", text)
    number = int(text)
    if number & (number - 1) == 0:
        return number
    return f"at most {next((bits for bits in _EDGES if number < 1 << bits), 'many')} bits"


@dataclass
class _Template:
    """One query, where its constants are in its text, and where they are in its meaning.

    The literals at the places that are `proven` have differed in queries that were planned.
    """

    query: Query
    literals: Literals
    relation: str
    constants: tuple[tuple[int, type, int], ...]
    meaning: tuple[str | int, ...]
    sources: Mapping[str, SourceInfo]
    proven: set[int] = field(default_factory=set)

    def knows(self, literals: Literals, catalog: Catalog) -> bool:
        """Whether a text with these literals can only mean what the template says."""
        differ = (n for n in self.lifted if literals.values[n] != self.literals.values[n])
        same = all(catalog.find(name) is info for name, info in self.sources.items())
        return same and all(number in self.proven for number in differ)

    @property
    def lifted(self) -> list[int]:
        """The places of the literals that are constants of the shape."""
        return [number for number, _, _ in self.constants]

    def shape(self, literals: Literals) -> KnownShape:
        """What a text with these literals says."""
        values = literals.values
        found: Constants = tuple(
            values[number][1:-1] if kind is str else sign * kind(values[number])
            for number, kind, sign in self.constants
        )
        meaning = (values[each] if isinstance(each, int) else each for each in self.meaning)
        return KnownShape(self.relation, found, "".join(meaning))


@dataclass
class _Family:
    """Texts that are alike but for literals: which of these are constants of a shape, and the
    templates by all other literals, which belong to the plan."""

    lifted: list[int]
    templates: dict[tuple[str, ...], _Template] = field(default_factory=dict)

    def of(self, literals: Literals) -> _Template | None:
        return self.templates.get(_others(literals, self.lifted))


class Templates:
    """What was learned from the queries of a graph that run as one of many."""

    def __init__(self) -> None:
        self._families: dict[_Key, _Family] = {}
        self._misses: Counter[_Key] = Counter()

    def query(self, text: str, catalog: Catalog) -> Query | None:
        """The query of a text, if it is known what that comes to."""
        literals = read_literals(text.strip()) if self._families else None
        template = None if literals is None else self._of(literals)
        if literals is None or template is None or not template.knows(literals, catalog):
            return None
        return template.query.with_shape(text.strip(), template.shape(literals))

    def learn(self, query: Query, pick: PickExec) -> None:
        """Take note of what a text has come to."""
        literals = None if query.shape is not None else read_literals(query.sql)
        own = query.depends_on == frozenset(query.sources) and not query.warnings
        if literals is None or not own or not _SELECT.match(query.sql):
            return
        found = KnownShape(relation_of(pick), pick.constants, query.meaning)
        template = self._of(literals)
        if template is None:
            self._begin(query, literals, found)
        elif template.shape(literals) == found:
            values, first = literals.values, template.literals.values
            template.proven |= {n for n in template.lifted if values[n] != first[n]}
        else:
            self._forget(literals.key)

    def _of(self, literals: Literals) -> _Template | None:
        family = self._families.get(literals.key)
        return None if family is None else family.of(literals)

    def _begin(self, query: Query, literals: Literals, found: KnownShape) -> None:
        places = [_place(constant, literals.values) for constant in found.constants]
        known = tuple(place for place in places if place is not None)
        lifted = [number for number, _, _ in known]
        clear = literals.are_distinct and len(places) == len(known) == len(set(lifted))
        if not clear or self._misses[literals.key] >= _MOST_MISSES:
            return
        if len(self._families) >= _MOST:
            self._families.clear()
        family = self._families.setdefault(literals.key, _Family(lifted))
        if family.lifted != lifted or len(family.templates) >= _MOST:
            self._forget(literals.key)
            return
        meaning = tuple(_pieces(found.meaning, {literals.values[n]: n for n in lifted}))
        family.templates[_others(literals, lifted)] = _Template(
            query.unplanned(), literals, found.relation, known, meaning, query.sources
        )

    def _forget(self, key: _Key) -> None:
        """What was learned was wrong: learn anew, if that does not happen too often."""
        self._misses[key] += 1
        self._families.pop(key, None)


def _others(literals: Literals, lifted: Sequence[int]) -> tuple[str, ...]:
    """The literals that are not constants of a shape: they belong to the plan."""
    return tuple(text for n, text in enumerate(literals.values) if n not in lifted)


def _place(constant: int | float | str, values: Sequence[str]) -> tuple[int, type, int] | None:
    """The literal that a constant is, with its type and its sign; there is one at most."""
    kind = type(constant)
    for number, text in enumerate(values):
        if kind is str or text.startswith("'"):
            if text == f"'{constant}'" and kind is str:
                return number, kind, 1
        elif kind is float or "." not in text:
            for sign in (1, -1):
                if sign * kind(text) == constant:
                    return number, kind, sign
    return None


def _pieces(meaning: str, places: Mapping[str, int]) -> list[str | int]:
    """A text with the places of literals instead of these.

    >>> _pieces("Filter a = 7 AND b > 8", {"7": 0})
    ['Filter a = ', 0, ' AND b > 8']
    """
    found: list[str | int] = [""]
    end = 0
    for match in _LITERAL.finditer(meaning):
        if match.group() in places:
            found += [meaning[end : match.start()], places[match.group()]]
            end = match.end()
    return [piece for piece in [*found, meaning[end:]] if piece != ""]
