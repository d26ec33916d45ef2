"""Haghani and others, Tables 1 and 2: generated streams, by their number and by k."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

from experiments.ranking.compare import Reading, beside
from experiments.ranking.evaluate import Question
from experiments.ranking.printed import BY_LIMIT, BY_STREAMS

WINDOW, STREAMS, LIMIT = 1000, 3, 10
# See topk_setting.
READINGS = (
    Reading("W rows, C = 60", 1.0, 60),
    Reading("W/2 rows, C = 167", 0.5, 167),
)


def main() -> None:
    asked = options(__doc__)
    window = WINDOW // 5 if asked.quick else WINDOW
    page = Page("topk_tables", "Tables 1 and 2: the number of streams, and k", asked)
    page.words(
        """Generated data, W = 1000, ξ = 0.5, read in the two ways that [come nearest to the
        text](topk_setting.md): as it says, and with half as many rows in a window. Sizes are
        instances; *share* is that of the approximate algorithm in the exact one, *precision* the
        share of the true first k that it finds, *error* the mean difference of scores, place by
        place (the text calls it relative). Means of 50 evaluations, every row a tick of its own."""
    )
    page.section("Table 1: the number of streams, k = 10")
    questions = [Question(streams, window, LIMIT) for streams in BY_STREAMS]
    _table(page, "streams", BY_STREAMS, questions)
    page.section("Table 2: k, three streams")
    questions = [Question(STREAMS, window, limit) for limit in BY_LIMIT]
    _table(page, "k", BY_LIMIT, questions)
    page.write()


def _table(page: Page, head: str, printed: dict, questions: list[Question]) -> None:
    measured = {
        reading.name: [reading.pair(question) for question in questions] for reading in READINGS
    }
    beside(page, head, printed, measured)


if __name__ == "__main__":
    main()
