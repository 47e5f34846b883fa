"""python -m tests.simulator SEED [--trace]    one seed again, byte for byte
python -m tests.simulator soak COUNT [--from SEED]    many seeds, on every core"""

from __future__ import annotations

import argparse
import sys

from tests.simulator.plan import LOSSY
from tests.simulator.simulate import simulate
from tests.simulator.soak import soak


def main() -> int:
    """0 if there is no complaint."""
    parser = argparse.ArgumentParser("python -m tests.simulator", usage=__doc__)
    parser.add_argument("what")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    # by default, a fifth of the seeds has an engine that loses writes
    parser.add_argument("--from", dest="first", type=int, default=LOSSY - 8_000)
    parser.add_argument("--trace", action="store_true")
    result = parser.parse_args()
    if result.what == "soak":
        return soak(result.first, result.count)
    outcome = simulate(int(result.what), sys.stdout if result.trace else None)
    size = f"{outcome.games} games, {outcome.entries} entries, {outcome.virtual_s:.0f} s of game time"
    print(f"seed {outcome.seed}, trace {outcome.digest}: {size}")
    print("\n".join(outcome.complaints) or "no complaints")
    return 1 if outcome.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
