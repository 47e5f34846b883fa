"""Planted bugs of editions: a part for the wrong seat, an entry that is joined wrongly, a head that nobody compares."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

APPEND: Final = "services/ledger/scripts/lua/append_entry.lua"
LEAN: Final = ("tests/ledger_contract/test_lean_edition.py",)
CONTRACT: Final = ("tests/ledger_contract/test_append.py",)
DAMAGED: Final = ("tests/referee/test_damaged_games.py",)

EDITION_MUTANTS: Final = (
    Mutant(
        "the last seat's private part isn't written", "P5", APPEND,
        "for k = 12, #KEYS do\n    redis.call(", "for k = 12, #KEYS - 1 do\n    redis.call(", CONTRACT,
    ),
    Mutant(
        "a private part goes to another seat", "P5", APPEND,
        "redis.call('XADD', KEYS[k], id, 'e', ARGV[first + k - 12])",
        "redis.call('XADD', KEYS[12], id, 'e', ARGV[first + k - 12])", CONTRACT,
    ),
    Mutant(
        "a part lies in another seat's field", "P5", APPEND,
        "view[#view + 1] = string.match(KEYS[k], '%d+$')", "view[#view + 1] = k - 12", CONTRACT,
    ),
    Mutant(
        "the script ignores the chain head of the second edition", "P3", APPEND,
        "last_number, before = tonumber(string.sub(stored, 1, space - 1)), string.sub(stored, space + 1)",
        "last_number = tonumber(string.sub(stored, 1, space - 1))", ("tests/ledger_contract/test_hash_chain.py",),
    ),
    Mutant(
        "a view that doesn't end where its log does takes an entry", "P8", APPEND,
        "or redis.call('XLEN', KEYS[3]) ~= length then", "then", DAMAGED,
    ),
    Mutant(
        "a game that lost its chain head goes on in the first edition", "P8", APPEND,
        "or (shown and shown[2][1] ~= 'e') then", "then", DAMAGED,
    ),
    Mutant(
        "a game goes on in the edition of its referee", "P4", APPEND,
        "local lean = stored or (length == 0 and ARGV[16] ~= '1')", "local lean = ARGV[16] ~= '1'", LEAN,
    ),
    Mutant(
        "a stored head isn't compared with the one that follows", "P6", "services/ledger/scripts/stored_entries.py",
        "if stored_head and stored_head != head:", "if False:", LEAN,
    ),
    Mutant(
        "the end of a page isn't compared with the chain head", "P6", "services/ledger/log/view_pages.py",
        "    if read_head != head:\n", "    if False:\n", LEAN,
    ),
    Mutant(
        "a follower's head isn't compared with the chain head", "P3", "services/ledger/log/view_pages.py",
        "    if read_head != head and request.head and request.after:\n", "    if False:\n", LEAN,
    ),
    Mutant(
        "a view's lost end isn't noticed", "P3", "services/ledger/log/view_pages.py",
        "    if min(end, last_read(request, limit)) > last:\n", "    if False:\n", LEAN,
    ),
    Mutant(
        "everybody is shown the parts of seat 1", "P5", "services/ledger/log/view_pages.py",
        "    if viewer is None:\n        return []\n", "    viewer = 1 if viewer is None else viewer\n", LEAN,
    ),
    Mutant(
        "a joined log entry lacks what a seat alone may know", "P4", "schemas/entry_join.py",
        "if (rows := unpack(part)[3])}", "if (rows := unpack(part)[3]) and False}", LEAN,
    ),
)  # fmt: skip
