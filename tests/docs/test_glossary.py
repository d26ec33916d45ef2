"""The glossary has one word per concept, and the code has these words."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "glossary.md"
PACKAGE = ROOT / "src" / "tidemill"
_ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.+?)(?=^- |^#|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Term:
    """A word, its definition, where the code has it, and the words it replaces."""

    name: str
    definition: str
    code: tuple[str, ...]
    replaced: tuple[str, ...]


def terms() -> list[Term]:
    return [_term(name, " ".join(text.split())) for name, text in _ENTRY.findall(_text())]


def _term(name: str, text: str) -> Term:
    definition, code, replaced = re.split(r" (?:Code|Not): ", text)
    names = tuple(re.findall(r"`([^`]+)`", code))
    return Term(name, definition, names, tuple(replaced.rstrip(".").split(", ")))


def _text() -> str:
    return PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def sources() -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def test_there_are_enough_terms() -> None:
    assert len(terms()) >= 40
    assert len(terms()) == _text().count("\n- **")


@pytest.mark.parametrize("term", terms(), ids=lambda term: term.name)
def test_a_term_is_defined_and_in_the_code(term: Term, sources: str) -> None:
    assert term.definition.endswith(".")
    assert len(re.findall(r"[.:] ", term.definition + " ")) <= 4, "one or two sentences"
    assert term.code
    for name in term.code:
        assert (PACKAGE / name).exists() or name in sources, name


def test_one_word_per_concept() -> None:
    names = [term.name for term in terms()]
    assert len(names) == len(set(names))
    replaced = {word for term in terms() for word in term.replaced}
    assert not replaced & set(names)
