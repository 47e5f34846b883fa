"""Planted bugs of what is stored: a part for the wrong seat, an entry that is joined wrongly, a head that nobody compares."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

APPEND: Final = "services/ledger/scripts/lua/append_entry.lua"
STORED: Final = ("tests/ledger_contract/test_stored_form.py",)
CONTRACT: Final = ("tests/ledger_contract/test_append.py",)
DAMAGED: Final = ("tests/referee/test_damaged_games.py",)

STORED_FORM_MUTANTS: Final = (
    Mutant(
        "the last seat's private part isn't written", "P5", APPEND,
        "for a = parts, names - 1 do", "for a = parts, names - 3 do", CONTRACT,
    ),
    Mutant(
        "a private part goes to another seat", "P5", APPEND,
        "view[#view + 1] = ARGV[a]\n", "view[#view + 1] = (a - parts) % 2 == 0 and ARGV[parts] or ARGV[a]\n", CONTRACT,
    ),
    Mutant(
        "the script ignores the chain head", "P3", APPEND,
        "last_number, before = tonumber(string.sub(stored, 1, space - 1)), string.sub(stored, space + 1)",
        "last_number = tonumber(string.sub(stored, 1, space - 1))", ("tests/ledger_contract/test_hash_chain.py",),
    ),
    Mutant(
        "a view that doesn't end where its log does takes an entry", "P8", APPEND,
        "or redis.call('XLEN', KEYS[3]) ~= length then", "then", DAMAGED,
    ),
    Mutant(
        "a game that lost its chain head goes on", "P8", APPEND,
        "if last_number ~= length or", "if (stored and last_number ~= length) or", DAMAGED,
    ),
    Mutant(
        "a stored head isn't compared with the one that follows", "P6", "services/ledger/scripts/stored_entries.py",
        "if stored_head and stored_head != head:", "if False:", STORED,
    ),
    Mutant(
        "the end of a page isn't compared with the chain head", "P6", "services/ledger/log/views.py",
        "    if read_head != head:\n", "    if False:\n", STORED,
    ),
    Mutant(
        "a follower's head isn't compared with the chain head", "P3", "services/ledger/log/views.py",
        "    if read_head != head and request.head and request.after:\n", "    if False:\n", STORED,
    ),
    Mutant(
        "a view's lost end isn't noticed", "P3", "services/ledger/log/views.py",
        "    if min(end, last_read(request, limit)) > last:\n", "    if False:\n", STORED,
    ),
    Mutant(
        "everybody is shown the parts of seat 1", "P5", "services/ledger/log/views.py",
        "    if viewer is None:\n        return []\n", "    viewer = 1 if viewer is None else viewer\n", STORED,
    ),
    Mutant(
        "a joined log entry lacks what a seat alone may know", "P4", "schemas/stored/codec.py",
        "if (rows := unpack(part)[3])}", "if (rows := unpack(part)[3]) and False}", STORED,
    ),
)  # fmt: skip
