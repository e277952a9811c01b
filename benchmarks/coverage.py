"""How often limits and verdicts are wrong: replications against known truth, written as docs/coverage.md.

``python -m benchmarks.coverage [TRIALS]``. A limit at 95 % may miss in 5 % of all trials, plus two standard errors
for luck; a row that misses more often is measured again with other draws. Ends with 1 where any still does.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.coverage_decisions import bursts, decisions, families
from benchmarks.coverage_limits import limits, losses
from benchmarks.coverage_policies import SEEDS, policies
from benchmarks.coverage_report import Row, write
from benchmarks.coverage_trials import AGAIN

TRIALS = 200


def main(trials: int) -> int:
    """Measure every row, print it and write the tables; 1 where any misses more often than it may."""
    found: list[Row] = []
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        for measure in (limits, losses, decisions, families, bursts):
            for row in measure(pool, trials):
                print(row, flush=True)  # noqa: T201
                found.append(row)
        for row in policies(pool):
            print(row, flush=True)  # noqa: T201
            found.append(row)
    write(found, trials, SEEDS, AGAIN)
    return int(not all(row.met for row in found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS))
