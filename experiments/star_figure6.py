"""Towne and others, Figure 6: policies that do not know what comes, over memory."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from experiments.star.curves import Curves, Way
from experiments.star.data import Setting, Star, generate
from experiments.star.shedding import Total, exact, online, optimal
from tidemill.algebra import Policy, Shedding

LIFE = 50
MEMORY = (4, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
QUICK_MEMORY = (10, 40, 100)

ALPHAS = (0.5, 1, 5, 10, 25, 50, 100, 500)
BETAS = (0, 0.1, 0.5, 1, 2, 5, 20)
SCANNED = 20
# Data to choose by, which the figure does not show.
SCAN_SEEDS = range(100, 103)

OTHERS = (
    Setting(values=(135, 60)),
    Setting(values=(60, 135)),
    Setting(importances=2),
    Setting(importances=90),
)

AGREEMENT = """We agree with the text: DGL-S is the best policy, whatever the memory; DIMPPROB-S and
    SIMPPROB-S are very similar; all policies are far above RAND-S where memory is small, and come
    to the exact join as M grows to 100. Less clear than in the text is the lead of DIMPPROB-S and
    SIMPPROB-S over SIMP-S: a few per cent with very little memory and with much, and nothing in
    between, where SIMP-S wins on somewhat more than half of the data. What the text does not show:
    no policy comes near the optimum. With little memory, who knows what comes gets twice as much
    and more."""

OTHER_WORDS = f"""Shares of the exact join in per cent, at M = {SCANNED}. The number of values
    changes little. The range of importances, which the text does not give either, decides between
    the policies: if importances differ little, it is matches that count, and SIMP-S, which does not
    look at them, is hardly better than chance; if they differ much, SIMP-S is the best one. With
    the range that comes nearest to the text's numbers, both weigh about the same. (α and β are
    those found above; β is in units of importance, so that DGL-S could do better elsewhere.)"""


def main() -> None:
    asked = options(__doc__)
    rows, seeds = (1000, range(2)) if asked.quick else (5000, range(10))
    page = Page("star_figure6", "Figure 6: online policies", asked)
    page.words(
        f"""{rows:,} rows of each stream, one of each at every instant, a relation of 250 rows,
        lives of {LIFE}; {len(seeds)} sets of data, made as for [Figure 4](star_figure4.md), the
        mean of each, in brackets the standard deviation. All policies filter rows with the
        relation. OSSJ is the optimum of who knows all rows beforehand; the figure of the text does
        not have it."""
    )
    page.section("The constants of DGL")
    alpha, beta = _scan(page, [generate(Setting(rows), seed) for seed in SCAN_SEEDS])
    page.section("Figure 6")
    memory = QUICK_MEMORY if asked.quick else MEMORY
    stars = [generate(Setting(rows), seed) for seed in seeds]
    ways = _ways(alpha, beta)
    curves = Curves(ways, memory, stars)
    curves.table(page)
    with page.picture("star_figure6", axes=2) as (totals, shares):
        curves.totals(totals)
        curves.shares(shares, whole="EXACT")
    curves.ranking(page, *curves.names)
    page.words(AGREEMENT)
    page.section("Other settings")
    _others(page, rows, seeds, ways)
    page.words(OTHER_WORDS)
    page.write()


def _ways(alpha: float, beta: float) -> dict[str, Way]:
    return {
        "EXACT": lambda star, memory: exact(star, LIFE),
        "OSSJ": lambda star, memory: optimal(star, memory, LIFE),
        "DGL-S": lambda star, memory: _dgl(star, memory, alpha, beta),
        "DIMPPROB-S": lambda star, memory: _run(star, memory, Policy.DIMPPROB),
        "SIMPPROB-S": lambda star, memory: _run(star, memory, Policy.SIMPPROB),
        "SIMP-S": lambda star, memory: _run(star, memory, Policy.SIMP),
        "RAND-S": lambda star, memory: _run(star, memory, Policy.RANDOM),
    }


def _run(star: Star, memory: int, policy: Policy) -> Total:
    return online(star, LIFE, Shedding(memory, (None, None), policy))


def _dgl(star: Star, memory: int, alpha: float, beta: float) -> Total:
    return online(star, LIFE, Shedding(memory, (None, None), Policy.DGL, alpha, beta))


def _scan(page: Page, stars: Sequence[Star]) -> tuple[float, float]:
    """The best constants on data of their own."""
    found = {
        (alpha, beta): np.mean([_dgl(star, SCANNED, alpha, beta).importance for star in stars])
        for alpha, beta in product(ALPHAS, BETAS)
    }
    rows = [[f"α = {alpha:g}", *(found[alpha, beta] for beta in BETAS)] for alpha in ALPHAS]
    page.table(["", *(f"β = {beta:g}" for beta in BETAS)], rows)
    best = max(found, key=found.__getitem__)
    page.words(
        f"""The text does not give α and β. Above, the importance at M = {SCANNED} on
        {len(stars)} sets of data that the figure does not use; the best pair, α = {best[0]:g} and
        β = {best[1]:g}, is taken."""
    )
    return best


def _others(page: Page, rows: int, seeds: Sequence[int], ways: Mapping[str, Way]) -> None:
    """The same policies on data of other settings that come near the text's numbers."""
    found = []
    for setting in OTHERS:
        stars = [generate(replace(setting, rows=rows), seed) for seed in seeds]
        curves = Curves(ways, [SCANNED], stars)
        whole = curves.importance("EXACT", SCANNED)
        shares = [100 * curves.importance(name, SCANNED) / whole for name in ways]
        found.append([*setting.values, setting.importances, *shares[1:]])
    page.table(["values of R", "values of S", "importances up to", *list(ways)[1:]], found)


if __name__ == "__main__":
    main()
