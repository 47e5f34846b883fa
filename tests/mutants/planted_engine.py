"""Planted bugs of what is believed of the engine: its word that an entry is on the disk, and its settings."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

WORD: Final = ("tests/gateway/test_engine_word.py",)
SETTINGS_TESTS: Final = ("tests/gateway/test_engine_settings.py",)
WATCH: Final = "services/gateway/health.py"
SETTINGS: Final = "services/ledger/operations/engine_settings.py"

ENGINE_MUTANTS: Final = (
    Mutant(
        "an engine that answers WAITAOF before it syncs is believed", "P1", SETTINGS,
        "return not self.error and self.shortest_s >= MIN_SYNC_GAP_S", "return not self.error", WORD,
    ),
    Mutant(
        "the word of an engine is not tried", "P1", SETTINGS,
        "if settings.syncs_before_it_answers or (self.trial and self.trial.waits_for_disk):", "if not self.waitaof_error:", WORD,
    ),
    Mutant(
        "an engine is tried once and for all", "P1", "services/ledger/operations/engine_settings.py",
        "if known is None or known.run_id != settings.run_id or known.error:", "if known is None:", WORD,
    ),
    Mutant(
        "the trial has one write", "P1", "services/ledger/operations/engine_settings.py",
        "return WaitaofTrial(run_id, min(waits_s[1:]))", "return WaitaofTrial(run_id, max(waits_s))", WORD,
    ),
    Mutant(
        "confirmations go on where the engine came back with other settings", "P1", "services/ledger/acknowledgements.py",
        "        if self.level == DURABLE and checked.capabilities.unavailable_reason:\n            return []", "        if False:\n            return []", WORD,
    ),
    Mutant(
        "a confirmation doesn't look at the settings again", "P1", "services/ledger/acknowledgements.py",
        "return bool(proof[0] >= 1) and (now.syncs_before_it_answers or is_unchanged)", "return bool(proof[0] >= 1)", WORD,
    ),
    Mutant(
        "an entry that may be dropped is durable", "P1", SETTINGS,
        "        if settings.may_drop_keys:\n            return", "        if False:\n            return", WORD,
    ),
    Mutant(
        "a confirmation doesn't look whether keys may be dropped by now", "P1", "services/ledger/acknowledgements.py",
        "        if now.may_drop_keys or now.eviction == NOT_SHOWN:\n", "        if False:\n", WORD,
    ),
    Mutant(
        "nobody hears that the engine keeps no AOF", "P1", SETTINGS,
        "    if settings.fsync_policy in _NEVER_DURABLE:\n        loss", "    if False:\n        loss", SETTINGS_TESTS,
    ),
    Mutant(
        "nobody hears that the engine drops keys", "P1", SETTINGS,
        "    if settings.may_drop_keys:\n        broken", "    if False:\n        broken", SETTINGS_TESTS,
    ),
    Mutant(
        "a strict gateway starts on any engine", "P1", WATCH,
        "    if strict:\n        watch.require_sound()\n", "", SETTINGS_TESTS,
    ),
    Mutant(
        "the engine's settings are looked at once", "P1", WATCH,
        "await asyncio.to_thread(self.check)", "await asyncio.sleep(0)", SETTINGS_TESTS,
    ),
    Mutant(
        "a reply that nobody read answers the next command", "P3", "services/ledger/engine/queries.py",
        "        connection.disconnect()  # a reply", "        pass  # a reply", ("tests/ledger_contract/test_round_trips.py",),
    ),
)  # fmt: skip
