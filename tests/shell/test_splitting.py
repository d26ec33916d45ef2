import pytest

from tidemill.shell.splitting import is_complete, pieces


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (";;", []),
        ("-- nothing; here\n/* nor; here */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT ';' AS a; SELECT \"b;\" FROM `c;`;", ["SELECT ';' AS a", 'SELECT "b;" FROM `c;`']),
        ("SELECT 'it''s;' -- ; a\n, 2; SELECT 3", ["SELECT 'it''s;' -- ; a\n, 2", "SELECT 3"]),
        ("\\d bid\n\\q", ["\\d bid", "\\q"]),
        ("SELECT 1; \\timing\nSELECT 2;", ["SELECT 1", "\\timing", "SELECT 2"]),
        ("\\push bid {\"a\": \";\"}\nSELECT 1;", ["\\push bid {\"a\": \";\"}", "SELECT 1"]),
        ("-- a comment\n\\d", ["\\d"]),
        ("SELECT 'open; SELECT 2;", ["SELECT 'open; SELECT 2;"]),
    ],
)  # fmt: skip
def test_pieces(text: str, found: list[str]) -> None:
    assert [piece.text.strip() for piece in pieces(text)] == found


def test_pieces_keep_their_place() -> None:
    text = "SELECT 1;\n\n  SELECT\n 2; SELECT 3"
    for piece in pieces(text):
        start = len(piece.text) - len(piece.text.lstrip())
        assert text[start:].startswith(piece.text.lstrip())
        assert piece.text.count("\n", 0, start) == text.count("\n", 0, start)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("  \n ", True),
        ("\\d", True),
        ("\\watch SELECT a FROM b", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- that is all", True),
        ("SELECT 1; SELECT", False),
        ("SELECT 1; \\d", True),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT /* ; ", False),
        ("SELECT -- ;", False),
        ("SELECT -- it's\n 1;", True),
    ],
)
def test_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete
