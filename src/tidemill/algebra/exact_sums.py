"""Sums that are exact, whatever was added: the bytes in which a plan keeps a partial sum.

A double is a multiple of 2 ** -1088 and a decimal one of 10 ** -38, so a sum is a whole number of
such units. It may have two thousand bits, but most have few that are not zero. The bytes are words
of 32 bits, the lowest first. The first word is the head: the place of the lowest digit, a sign, and
what else was in the sum: NaN and infinities. The digits follow, from the lowest that is not zero to
the highest. So equal sums have equal bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

WORD_BITS = 32
DOUBLE_SCALE = 1088
"""Doubles are whole numbers of 2 ** -1088: a multiple of 32 above 1074, the least that would do."""
DECIMAL_SCALE = 38

NEGATIVE, NAN, UP, DOWN = (1 << bit for bit in (16, 17, 18, 19))
PLACES = NEGATIVE - 1
"""The bits of the head that hold the place of the lowest digit."""

_WORD = (1 << WORD_BITS) - 1


@dataclass(frozen=True)
class ExactSum:
    """A whole number of units, and what is beside it.

    >>> total = ExactSum(-5 << 32)
    >>> total.to_bytes().hex(), ExactSum.of_bytes(total.to_bytes()) == total
    ('0100010005000000', True)
    """

    units: int
    nan: bool = False
    up: bool = False
    down: bool = False

    def to_bytes(self) -> bytes:
        place, digits = 0, abs(self.units)
        while digits and not digits & _WORD:
            place, digits = place + 1, digits >> WORD_BITS
        flags = ((self.units < 0, NEGATIVE), (self.nan, NAN), (self.up, UP), (self.down, DOWN))
        head = place | sum(flag for present, flag in flags if present)
        words = -(-digits.bit_length() // WORD_BITS)
        return head.to_bytes(4, "little") + digits.to_bytes(4 * words, "little")

    @staticmethod
    def of_bytes(content: bytes) -> ExactSum:
        head = int.from_bytes(content[:4], "little")
        size = int.from_bytes(content[4:], "little") << (WORD_BITS * (head & PLACES))
        units = -size if head & NEGATIVE else size
        return ExactSum(units, bool(head & NAN), bool(head & UP), bool(head & DOWN))


def unit_of(decimal: bool) -> Fraction:
    """The unit of sums of decimals, or of doubles."""
    return Fraction(1, 10**DECIMAL_SCALE if decimal else 2**DOUBLE_SCALE)
