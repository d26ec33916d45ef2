"""What the figures show, and whether the text says the same."""

RUN_TIMES = """All three gave the same answers: the same rows come and go at the same instants.
    Agreed where no aggregate takes part: signs take about twice as long for joins and duplicate
    elimination (q3, q8), and more for queries without memory (q1, q2), for which intervals need no
    window at all. Less than twice for q5, as in the text: most of its time goes to hash tables,
    from which signs remove rows for less than intervals do with their heap of ends. Not agreed for
    aggregates over many rows that overlap: the text has intervals ahead for q4, though by less than
    two; here signs are ahead for q4 and, by far, for q6, which the text does not show. See Figure
    14.6 for why. So "a factor of two for time-based windows" holds for us without aggregates, and
    does not hold with them. Our own operators have a fixed cost per tick, of which the cheap
    queries consist here; on the expensive ones they are two to three times faster than the better
    of the two, except q6, whose time is that of joining all counts with the largest one."""

LATENCY = """How long after its start a row is given, in time of the streams; the wait for the next
    row of the other input of a join included. Agreed: the same for joins, duplicate elimination and
    the aggregate of all rows. Not agreed for groups: the text calls the delay negligible, but the
    order of starts makes every group wait for the oldest one that is still open, and an item with
    one bid stays open for as long as the window is: an hour for q6. For q7 it is worse: a seller
    with fewer than ten sales never gives a row up, and all others wait behind it until the streams
    end. (Algorithm 14 therefore has a longest delay, at the price of cutting rows. Our own
    operators need no order of starts, and give every piece when it is over.)"""

STATELESS = """Agreed: signs give twice as many results, as each comes and goes, and take more than
    twice as long: rows are converted or tested twice, and the window must remember every bid for
    an instant. The items of q2 get all of their bids near the beginning."""

WINDOWS_REMEMBER = """Agreed, nearly to the number: the text has 6, 97 and 2,880 elements on average
    (we look between bursts, too, hence fewer for `now`). Intervals remember nothing."""

SHORT_AUCTIONS = """
    Agreed: signs are slower than intervals, by less than two with hash tables and by
    two with nested loops, for which every negative looks through all rows as well. The text has
    them more than two behind for nested loops, because the queue at the input costs more than the
    one at the output."""

HIGHEST_BID = """Agreed: intervals become somewhat faster with coalesce, which leaves the join a
    fraction of the rows, and looking through all values when one goes is slower than keeping them
    in order. Not agreed: the text's intervals are still ahead of signs with an ordered list. An
    arriving bid updates all partial aggregates that it overlaps, 16 on average here; signs insert
    one value and later remove it. The text says so, too, and counts fewer calls for signs; that
    they are faster for us is partly Python: inserting into an ordered list is one call of compiled
    code, updating 16 parts is a loop of interpreted code."""

CLOSING_PRICE = """Agreed: it is better to group first, for both approaches, and signs are behind by
    less than two. The flat end of the signs' curves is the expiration of all that is left when the
    streams end."""

MEMORY = """Agreed: with time-based windows signs hold about twice as many elements, because the
    window remembers what the operator behind it remembers as well. The counts of q6 are numbers for
    signs (one per item), but partial aggregates and finished ones that wait for intervals: these
    come to the same. What is counted are elements, not bytes."""

COUNT_WINDOWS = """
    Agreed: a row of a count-based window is known to signs when it comes, to intervals
    only when the row comes that ends it: with 100 rows after two seconds. Our own operators do as
    the intervals do, one tick (here: one row) later, as a watermark must have passed the row; if an
    operator above waits for the watermark, rows are cut there and passed on at once."""
