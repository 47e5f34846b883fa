"""Planted bugs of isolation: one bad key, node or crowd stops everybody else."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

MISTYPED: Final = ("tests/referee/test_mistyped_keys.py",)

ISOLATION_MUTANTS: Final = (
    Mutant(
        "a key of another type stops all partitions", "P8", "services/ledger/mistyped_keys.py",
        "[partition for partition in partitions if partition not in self._left_out]", "[*partitions]", MISTYPED,
    ),
    Mutant(
        "a key of another type isn't told by its name", "P8", "services/ledger/mistyped_keys.py",
        "        for name in sorted(found - self.names):\n", "        for name in ():\n", MISTYPED,
    ),
    Mutant(
        "an append meets a key of another type half way through", "P8", "services/ledger/lua/append_entry.lua",
        "redis.call('ZSCORE', KEYS[6], ARGV[12])\n", "", MISTYPED,
    ),
    Mutant(
        "a command is lost where dead letters are of another type", "P8", "services/ledger/lua/reject_command.lua",
        "#ARGV > 8 and redis.call('XLEN', KEYS[3])", "#ARGV > 8 and 0", MISTYPED,
    ),
)  # fmt: skip
