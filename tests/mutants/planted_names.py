"""Planted bugs of names that can be erased: each leaves one somewhere, or breaks what must hold without it."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

SALTED: Final = ("tests/referee/test_salted_names.py",)
ERASED: Final = ("tests/security/test_erased_names.py",)
BESIDE: Final = ("tests/verification/proof/test_names.py",)

NAMES_MUTANTS: Final = (
    Mutant(
        "a name stays in the log", "security", "services/referee/player_names.py",
        "        command = replace(command, name=None, name_commitment=commit(command.name))\n",
        "        return SaltedEnvelope(envelope, {})\n", SALTED,
    ),
    Mutant(
        "a creator's names stay in the log", "security", "services/referee/player_names.py",
        "    if plan.name is None or plan.name in own_names:\n", "    if True:\n", SALTED,
    ),
    Mutant(
        "all names have one salt", "security", "services/referee/player_names.py",
        "SaltedName(bytes.fromhex(new_seed()), name)", "SaltedName(bytes(32), name)", SALTED,
    ),
    Mutant(
        "a name that somebody has gets a commitment of its own", "security", "services/referee/player_names.py",
        "        if commitment is not None:\n", "        if False:\n", SALTED,
    ),
    Mutant(
        "the name stays of who sat at a freed seat", "security", "services/referee/decision_building.py",
        "        names_left=salted.left_by(events) if salted else (),\n", "", ("tests/gateway/test_freed_seats.py",),
    ),
    Mutant(
        "the next holder of a seat reads disputes of the one before", "security", "schemas/web/disputes.py",
        "if self.times_freed else str(self.seat)", "if False else str(self.seat)", ("tests/gateway/test_freed_seats.py",),
    ),
    Mutant(
        "two withdrawals at once leave no valid token", "security", "services/ledger/scripts/lua/withdraw_token.lua",
        "  return 0\n", "  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)\n  return 0\n", ("tests/security/test_token_keys.py",),
    ),
    Mutant(
        "a person sits beside whom it imitates", "security", "services/referee/player_names.py",
        "look_alike(salted.name, name)", "salted.name == name", ("tests/gateway/test_imitated_names.py",),
    ),
    Mutant(
        "a person has a bot's name", "security", "services/referee/decision_building.py",
        "    require_own_names(envelope.command)\n", "", ("tests/gateway/test_imitated_names.py",),
    ),
    Mutant(
        "a dead letter keeps a name", "security", "services/referee/command_processor.py",
        "            if nameless is not envelope:\n", "            if False:\n", SALTED,
    ),
    Mutant(
        "names outlive their game", "security", "services/ledger/log/game_indexes.py",
        "        keys.webhook_games(partition),\n        keys.player_names(partition, game),\n",
        "        keys.webhook_games(partition),\n", SALTED,
    ),
    Mutant(
        "an archived name comes back", "security", "services/auditor/archive_job.py",
        "    while (names := ledger.read_names(game)) != written:\n",
        "    if (names := ledger.read_names(game)) != written:\n", ("tests/auditor/test_archive_job.py",),
    ),
    Mutant(
        "the archive keeps what is erased", "security", "services/cli/operating/person.py",
        "    if left != archived:\n", "    if False:\n", ERASED,
    ),
    Mutant(
        "a table that was folded before keeps a name", "security", "services/gateway/tables/table_folds.py",
        "        return names_in(entries) == fold.names\n", "        return True\n", ERASED,
    ),
    Mutant(
        "a notified entry comes without names", "security", "services/gateway/following/entry_encoding.py",
        "return None if holds_commitment([entry]) else [", "return [", ERASED,
    ),
    Mutant(
        "a stored digest follows from a name", "security", "schemas/stored/codec.py",
        '        command = replace(command, name="")\n', "        pass\n", ("tests/gateway/test_idempotency.py",),
    ),
    Mutant(
        "an audit believes any name", "security", "services/verification/log_check.py",
        "        if salted.commitment not in committed:\n", "        if False:\n", BESIDE,
    ),
    Mutant(
        "the one-file verifier believes any name", "security", "deploy/verify_game.py",
        "            return due <= self.names and ", "            return ", BESIDE,
    ),
    Mutant(
        "a fork's seat isn't found with its game's", "security", "services/cli/operating/person.py",
        "        followed |= more\n", "        break\n", ("tests/security/test_person_command.py",),
    ),
)  # fmt: skip
