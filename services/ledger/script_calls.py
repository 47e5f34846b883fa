"""The scripts' keys and arguments, from what is to be done. Pure."""

from __future__ import annotations

from schemas.codec import pack, pack_letter
from schemas.commands import Letter
from services.ledger import keys
from services.ledger.ports import Verdict
from services.ledger.scripts import Call


def submit_call(letter: Letter, partitions: int, waiting_most: int, knock: str = "") -> Call:
    """The keys and arguments of submit_command.lua. Raises Malformed: the letter is too large."""
    partition = keys.partition_of(letter.game, partitions)
    dismissed = keys.dismissed(partition, letter.game, letter.seat, letter.id)
    return [keys.commands(partition), dismissed], [waiting_most, pack_letter(letter), knock]


def append_call(verdict: Verdict, knock: str) -> Call:
    """The keys and arguments of append_entry.lua."""
    game, partition, leaves = verdict.game, verdict.taken.partition, verdict.leaves
    called = [
        keys.commands(partition),
        keys.log(partition, game),
        keys.public(partition, game),
        keys.verdicts(partition, game, verdict.speaker),
        keys.turns(partition),
        keys.due(partition),
        keys.games(partition),
        keys.over(partition),
        *(keys.seat(partition, game, seat) for seat, _ in verdict.parts),
    ]
    told = [
        keys.REFEREES,
        verdict.taken.id,
        verdict.expected,
        verdict.before,
        verdict.command_id,
        verdict.at,
        verdict.entry,
        verdict.public,
        verdict.head,
        "" if verdict.deadline is None else verdict.deadline,
        "=" if leaves == "as before" else "" if leaves is None else leaves,
        game,
        keys.bell(partition),
        knock,
        len(verdict.turns),
        *(pack(tuple(turn)) for turn in verdict.turns),
        *(part for _, part in verdict.parts),
    ]
    return called, told


def retire_call(game: str, partition: int, seats: int, length: int) -> Call:
    """The keys and arguments of evict_game.lua."""
    called = [
        keys.log(partition, game),
        keys.due(partition),
        keys.games(partition),
        keys.over(partition),
        keys.archived(partition),
        keys.public(partition, game),
        keys.verdicts(partition, game, None),
        *(keys.seat(partition, game, seat) for seat in range(seats)),
        *(keys.verdicts(partition, game, seat) for seat in range(seats)),
    ]
    return called, [game, length]
