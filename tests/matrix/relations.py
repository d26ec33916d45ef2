"""Relations of every kind, joined with streams and looked at by themselves."""

from __future__ import annotations

from tests.matrix.cells import Capability, Case, Group
from tests.matrix.data import BID, FAR, FIRST, bids
from tests.matrix.ways import Way

OFFER = "CREATE RELATION offer (item BIGINT, seller STRING) CHANGING"
SOLD = """SELECT b.item, o.seller FROM bid b WINDOW(RANGE 4) JOIN offer o ON b.item = o.item"""


def _file(case: Case, *lines: str) -> str:
    path = case.folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return f"SOURCE csv(path => '{path}', header => TRUE)"


def _ends(way: Way, *streams: str) -> None:
    for stream in streams:
        way.beat(stream, FAR)
    way.settle()


def constant(case: Case) -> None:
    source = _file(case, "item,kind", "1,light", "2,decor")
    with case.open() as way:
        way.declare(BID)
        way.declare(f"CREATE RELATION kind (item BIGINT, kind STRING) {source}")
        way.ask(q="SELECT b.item, k.kind FROM bid b WINDOW(RANGE 4) JOIN kind k ON b.item = k.item")
        way.push("bid", FIRST)
        _ends(way, "bid")
        assert way.rows("q") == [(1, "light", 3, 7), (1, "light", 5, 9), (2, "decor", 6, 10)]


def temporal(case: Case) -> None:
    source = _file(case, "item,fee,since,until", "1,1,0,4", "1,2,4,")
    columns = "item BIGINT, fee BIGINT, since BIGINT, until BIGINT"
    with case.open() as way:
        way.declare(BID)
        way.declare(f"CREATE RELATION rate ({columns}) {source} VALID FROM since TO until")
        way.ask(q="SELECT b.item, r.fee FROM bid b WINDOW(RANGE 4) JOIN rate r ON b.item = r.item")
        way.push("bid", FIRST)
        _ends(way, "bid")
        assert way.rows("q") == [(1, 1, 3, 4), (1, 2, 4, 7), (1, 2, 5, 9)]


def changing(case: Case) -> None:
    """Rows are looked up when they come: bids before 4 are those of Ann."""
    with case.open() as way:
        way.declare(f"{BID}; {OFFER}; INSERT INTO offer VALUES (1, 'ann'), (2, 'bob')")
        way.ask(sold=SOLD, who="SELECT item FROM bid b WINDOW(RANGE 4) WHERE item IN "
                "(SELECT o.item FROM offer o WHERE o.seller = 'cem')")  # fmt: skip
        way.push("bid", bids((1, 10, 3)))
        way.settle()
        way.declare("DELETE FROM offer WHERE item = 1 AT 4")
        way.declare("INSERT INTO offer VALUES (1, 'cem') AT 5")
        way.push("bid", bids((1, 30, 5), (2, 20, 6)))
        way.settle()
        _ends(way, "bid")
        assert way.rows("sold") == [(1, "ann", 3, 7), (1, "cem", 5, 9), (2, "bob", 6, 10)]
        assert way.rows("who") == [(1, 5, 9)]


def as_stream(case: Case) -> None:
    """Insertions and deletions, also of relations that no stream is joined with."""
    with case.open() as way:
        way.declare(OFFER)
        way.ask(
            came="SELECT item, seller FROM ISTREAM(offer)",
            went="SELECT item, seller FROM DSTREAM(offer)",
        )
        way.settle()
        way.declare("INSERT INTO offer VALUES (1, 'ann') AT 2")
        way.settle()
        way.declare("DELETE FROM offer WHERE item = 1 AT 4")
        way.declare("INSERT INTO offer VALUES (1, 'cem') AT 5")
        way.settle()
        way.declare("DELETE FROM offer WHERE seller = 'cem' AT 9")
        way.settle()
        assert way.rows("came") == [(1, "ann", 2, 3), (1, "cem", 5, 6)]
        assert way.rows("went") == [(1, "ann", 3, 4), (1, "cem", 8, 9)]


def beside_a_stream(case: Case) -> None:
    """Changes that are no longer news when they come count from after what streams have brought."""
    with case.open() as way:
        way.declare(f"{BID}; {OFFER}; INSERT INTO offer VALUES (1, 'ann') AT 2")
        way.ask(
            q="SELECT b.item, i.seller FROM bid b WINDOW(RANGE 4) "
            "JOIN ISTREAM(offer) i ON b.item = i.item",
        )
        way.push("bid", bids((1, 10, 1), (1, 20, 3)))
        way.settle()
        way.declare("INSERT INTO offer VALUES (1, 'cem') AT 5")
        way.push("bid", bids((1, 30, 6)))
        way.settle()
        _ends(way, "bid")
        assert way.rows("q") == [(1, "ann", 2, 3), (1, "cem", 5, 6)]


def star(case: Case) -> None:
    """A pair needs one row of the relation that was there when each of the two came."""
    with case.open() as way:
        way.declare(f"{BID}; {OFFER}; INSERT INTO offer VALUES (1, 'ann') AT 0")
        way.declare("CREATE STREAM call (seller STRING, line BIGINT, at BIGINT) ORDERED BY at")
        way.ask(
            q="SELECT b.price, c.line FROM bid b WINDOW(RANGE 10), offer o, call c "
            "WINDOW(RANGE 10) WHERE b.item = o.item AND o.seller = c.seller"
        )
        way.push("bid", bids((1, 10, 3)))
        way.push("call", [{"seller": "ann", "line": 7, "at": 5}])
        way.settle()
        way.declare("DELETE FROM offer WHERE item = 1 AT 8")
        way.declare("INSERT INTO offer VALUES (1, 'ann') AT 9")
        way.push("call", [{"seller": "ann", "line": 8, "at": 9}])
        way.push("bid", bids((1, 20, 10)))
        way.settle()
        _ends(way, "bid", "call")
        assert way.rows("q") == [(10, 7, 5, 13), (20, 8, 10, 19)]


RELATIONS = Group(
    "Relations",
    (
        Capability("constant relations", constant),
        Capability("temporal relations", temporal, sample="collect"),
        Capability("`CHANGING` relations", changing, sample="server"),
        Capability("`ISTREAM(r)`, `DSTREAM(r)`", as_stream),
        Capability("`ISTREAM(r)` joined with a stream", beside_a_stream),
        Capability("streams joined through a `CHANGING` relation", star, sample="graph"),
    ),
)
