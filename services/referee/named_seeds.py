"""Seeds that somebody names, at tables with people: the name alone decides no card.

A name can be guessed, and its hash is public: whoever knows `friday` would read the whole deck. So where a person may
sit, the game's seed is a hash of the name and of 32 random bytes that nobody knows. The log commits to that
seed, as to every other, and keeps no name. Games of bots alone are dealt by the name, so that all of one name are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from schemas.commands import CommandEnvelope, CreateGame


def take_seed(envelope: CommandEnvelope, new_seed: Callable[[], str]) -> tuple[CommandEnvelope, str]:
    """The envelope as it is decided and logged, and the seed (64 hex digits) of the game that it creates if it names
    none; empty for a command that creates no game. `new_seed` returns random ones."""
    command = envelope.command
    if not isinstance(command, CreateGame):
        return envelope, ""
    seed = new_seed()
    if command.seed is None or all(plan.kind == "bot" for plan in command.seats):
        return envelope, seed
    mixed = sha256(b"ledgerline/seed/2" + bytes.fromhex(seed) + command.seed.encode()).hexdigest()
    return replace(envelope, command=replace(command, seed=None)), mixed
