"""Write the data of the examples: an auction house over two days, the same on every run.

Run it from the repository root: python examples/csv/generate.py
"""

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path

DATA = Path(__file__).parent / "data"
START = datetime(2024, 3, 1)
MINUTES_OUT_OF_ORDER = 2
PEOPLE = ["ann", "bob", "cy", "dee", "eve", "fay", "gus", "hal", "ivy", "jon", "kim", "lea"]


def write(name, header, rows):
    path = DATA / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def people(rng):
    """Persons with the time of their registration; a few leave again."""
    for number, name in enumerate(PEOPLE, 1):
        begin = START + timedelta(minutes=rng.randint(0, 20 * 60))
        end = begin + timedelta(hours=rng.randint(6, 30)) if rng.random() < 0.3 else None
        yield number, name, begin, end


def auctions(rng):
    """Auctions with their opening, their end and their bids."""
    for number in range(40):
        opened = START + timedelta(minutes=rng.randint(0, 40 * 60))
        closed = opened + timedelta(minutes=rng.choice([90, 200, 300, 420, 700, 1500]))
        price = float(rng.randint(2, 40) * 5)
        offers, current = [], price
        for _ in range(rng.randint(3, 30)):
            minutes = (closed - opened) / timedelta(minutes=1) * rng.random() ** 0.5
            offers.append(opened + timedelta(minutes=int(minutes), seconds=rng.randint(0, 59)))
        bids = []
        for at in sorted(offers):
            current += rng.randint(1, 20) / 2
            bids.append((1001 + number, current, rng.randint(1, len(PEOPLE)), at))
        yield 1001 + number, rng.randint(1, len(PEOPLE)), price, opened, closed, bids


def arrived(rng, bids):
    """Bids in the order of their arrival, a little out of order."""
    late = {bid: rng.uniform(0, MINUTES_OUT_OF_ORDER) for bid in bids}
    return sorted(bids, key=lambda bid: bid[3] + timedelta(minutes=late[bid]))


def temperatures(rng):
    """A reading of the hall's temperature every ten minutes or so."""
    at, value = START, 20.0
    while at < START + timedelta(days=1):
        at += timedelta(seconds=rng.randint(300, 900))
        value += rng.uniform(-0.5, 0.5)
        yield round(value, 1), at


def main():
    rng = random.Random(7)
    write("person.csv", ["id", "name", "registered", "left"], people(rng))
    house = list(auctions(rng))
    opened = sorted(((a[0], a[1], a[2], a[3]) for a in house), key=lambda row: row[3])
    closed = sorted(((a[0], a[4]) for a in house), key=lambda row: row[1])
    write("open_auction.csv", ["item", "seller", "start_price", "ts"], opened)
    write("closed_auction.csv", ["item", "ts"], closed)
    bids = arrived(rng, [bid for auction in house for bid in auction[5]])
    for number in range(0, len(bids), 200):
        name = f"bid/{number // 200 + 1:02}.csv"
        write(name, ["item", "price", "bidder", "ts"], bids[number : number + 200])
    write("sensor.csv", ["temperature", "ts"], temperatures(rng))


if __name__ == "__main__":
    main()
