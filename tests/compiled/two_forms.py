"""The same random games played by both forms of the rules, each in a process of its own: every byte has to be equal.

A game's digest covers all that a referee writes of it (log entries, public entries, private parts, heads), what is read of
these bytes and of damaged ones, and every list of legal commands that it went through, in order.
`python -m tests.compiled.two_forms 0 100` prints those of games 0 to 99.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from schemas.commands import Command, CommandEnvelope
from schemas.errors import LedgerlineError
from schemas.stored.codec import (
    build_view_entry,
    digest_command,
    pack_envelope,
    read_private_part,
    read_public_rows,
    unpack_entry,
    unpack_envelope,
    unpack_for_fold,
    unpack_foreign_entry,
)
from services.compiled_rules import VARIABLE, rules_form
from services.referee.games import RULESETS
from services.referee.games.proof.sealing import SealedEntry
from tests.rules.random_games import HABITS, RandomGame, random_board, random_position
from tests.rules.sealed_games import GAME, play_and_seal

ROOT: Final = Path(__file__).parents[2]


class PlayedGame(NamedTuple):
    """What one form made of one game."""

    number: int
    entries: int
    digest: str


@dataclass
class RecordedGame(RandomGame):
    """A random game that keeps a digest of every list of commands that it chose from."""

    listed: str = ""

    def choice(self, commands: list[Command]) -> Command:
        self.listed = sha256(repr((self.listed, commands)).encode()).hexdigest()
        return super().choice(commands)


def play(number: int, steps_most: int = 3_000) -> PlayedGame:
    """Play the game of this number, to its end or for so many steps. Its number decides everything about it: one of five is
    of each ruleset, one of five on a board goes on from a position, one of three is strict, one of two has illegal commands."""
    rng = Random(f"two forms {number}")
    rules = [*RULESETS][number % len(RULESETS)]
    board, seats, create_fields = random_board(rng, rules)
    options: dict[str, Any] = {"strict": number % 3 == 0, "clock_ms": rng.choice([None, 20_000, 200_000])}
    if board and rng.randrange(5) == 0:
        create_fields["position"] = random_position(rng, board, seats)
    illegal_share, leave_share = (0.05, 0.005) if number % 2 else (0, 0)
    game = RecordedGame(
        rng, board, seats, rng.choice([*HABITS]), illegal_share, leave_share, options, create_fields
    )
    sealed = play_and_seal(game, steps_most).sealed
    digest = sha256(game.listed.encode())
    for sequence, one in enumerate(sealed, 1):
        digest.update(repr((one.entry, one.public, one.head, sorted(one.private_parts))).encode())
        digest.update(repr([*read_all(sequence, one, rng)]).encode())
    return PlayedGame(number, len(sealed), digest.hexdigest())


def read_all(sequence: int, sealed: SealedEntry, rng: Random) -> Iterator[str]:
    """What each reader makes of an entry's bytes, and of the same with some of them changed."""
    entry = unpack_entry(sealed.entry)
    yield digest_command(entry.command)
    envelope = pack_envelope(CommandEnvelope(entry.id, GAME, entry.seat, entry.command))
    yield from readings(unpack_envelope, envelope, rng)
    for read_entry in (unpack_entry, unpack_foreign_entry, unpack_for_fold):
        yield from readings(read_entry, sealed.entry, rng)
    yield from readings(read_public_rows, sealed.public, rng)
    yield from readings(lambda public: build_view_entry(sequence, public, None), sealed.public, rng)
    for _, part in sealed.private_parts:
        yield from readings(read_private_part, part, rng)
        yield from readings(lambda part: build_view_entry(sequence, sealed.public, part), part, rng)


def readings(read: Callable[[bytes], object], data: bytes, rng: Random) -> Iterator[str]:
    """The value that is read; then that of damaged bytes, or the type of the error."""
    yield repr(read(data))
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        damaged[rng.randrange(min(len(data), 40))] = rng.randrange(256)  # most of what is checked is in front
    try:
        yield repr(read(bytes(damaged)))
    except (LookupError, TypeError, ValueError, AttributeError, LedgerlineError) as error:
        yield type(error).__name__


def play_in_process(first: int, end: int, *, compiled: bool) -> subprocess.Popen[str]:
    """A process that plays these games in this form, and prints `form`, then a line for each."""
    environment = {**os.environ, VARIABLE: str(compiled), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.compiled.two_forms", str(first), str(end)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def read_games(lines: Sequence[str], *, compiled: bool) -> list[PlayedGame]:
    """The games that such a process printed. Raises AssertionError: it had another form of the rules."""
    assert lines, "nothing was played"
    assert lines[0].startswith("compiled" if compiled else "pure Python"), f"the rules were {lines[0]}"
    words = (line.split() for line in lines[1:])
    return [PlayedGame(int(number), int(entries), digest) for number, entries, digest in words]


def differences(one: Sequence[PlayedGame], other: Sequence[PlayedGame]) -> Iterator[int]:
    """The numbers of the games that aren't the same in both."""
    for mine, theirs in zip(one, other, strict=True):
        if mine != theirs:
            yield mine.number


def main(first: int, end: int) -> None:
    """Play games, and print each."""
    print(rules_form())
    for number in range(first, end):
        print(*play(number), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
