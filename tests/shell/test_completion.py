import re

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from tests.docs.pages import ROOT
from tidemill.shell.backend import Named
from tidemill.shell.completion import SqlCompleter
from tidemill.shell.words import FUNCTIONS, KEYWORDS, TYPES
from tidemill.wire.base import Column

NAMES = [
    Named(
        "bid",
        "stream",
        (Column(name="item", type="STRING"), Column(name="price", type="BIGINT")),
        pushed=True,
    ),
    Named("ask", "stream", (Column(name="item", type="STRING"), Column(name="ask", type="BIGINT"))),
    Named("category", "relation", (Column(name="kind", type="STRING"),)),
    Named("hot", "query", (Column(name="best", type="BIGINT"),), state="running"),
]


def completions(text: str) -> list[str]:
    """What is offered where a bar stands, or at the end."""
    before, _, after = text.partition("|")
    document = Document(before + after, len(before))
    found = SqlCompleter(lambda: NAMES).get_completions(document, CompleteEvent())
    return [completion.text for completion in found]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT * FROM ", ["bid", "ask", "category"]),
        ("SELECT * FROM bid JOIN c", ["category"]),
        ("SELECT b.| FROM bid AS b", ["item", "price"]),
        ("SELECT b.p| FROM bid WINDOW(RANGE 5) b", ["price"]),
        ("SELECT x.| FROM bid AS b", []),
        ("SELECT a.| FROM bid AS b, ask [ROWS 5] AS a", ["item", "ask"]),
        ("SELECT pr| FROM bid", ["price"]),
        ("SELECT kin| FROM bid", []),
        ("SELECT kin", ["kind"]),
        ("SELECT * FROM bid AS b; SELECT b.", []),
        ("SELECT * FROM bid; SELECT category.| FROM category", ["kind"]),
        ("STOP QUERY ", ["hot"]),
        ("DROP QUERY h", ["hot"]),
        ("DROP STREAM ", ["bid", "ask", "category"]),
        ("SELECT COU", ["COUNT", "COUNT_IF"]),
        ("\\", ["d", "explain", "watch", "push", "tick", "i", "format", "timing", "help", "q"]),
        ("\\ex", ["explain"]),
        ("\\d h", ["hot"]),
        ("\\watch ", ["hot"]),
        ("\\watch SELECT it| FROM bid", ["item"]),
        ("\\explain p", ["physical"]),
        ("\\explain physical SELECT * FROM a", ["ask"]),
        ("\\push ", ["bid"]),
        ("\\format c", ["csv"]),
    ],
)
def test_completions(text: str, offered: list[str]) -> None:
    assert completions(text) == offered


def test_paths_are_completed(tmp_path, monkeypatch) -> None:
    (tmp_path / "bids.csv").touch()
    (tmp_path / "start.sql").touch()
    monkeypatch.chdir(tmp_path)
    assert completions("\\i st") == ["art.sql"]
    assert completions("\\push bid b") == ["ids.csv"]


def test_all_words_of_the_language_are_known() -> None:
    page = (ROOT / "docs" / "language.md").read_text("utf-8")
    blocks = "\n".join(re.findall(r"```sql\n(.*?)```", page, re.DOTALL))
    code = re.sub(r"--[^\n]*|/\*.*?\*/|'[^']*'", "", blocks)
    words = set(re.findall(r"\b[A-Z][A-Z]+\b", code))
    assert words - {*KEYWORDS, *TYPES, *FUNCTIONS} == set()
