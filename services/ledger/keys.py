"""The names of the keys in Redis, and which partition a game lives in. Pure.

Every key of a game carries its partition's hash tag, so that one script may touch all of
them on a cluster, and a partition moves between nodes as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zlib import crc32

PARTITIONS_DEFAULT: Final = 256
PARTITIONS_MOST: Final = 4096
BIRTH: Final = "ledgerline:birth"  # what was fixed when the first service met this engine
REFEREES: Final = "referees"  # consumer group of the commands streams
BOTS: Final = "bots"  # consumer group of the turns streams
EVERY_BELL: Final = "{p*}:bell"
KNOCK: Final = {REFEREES: "ledgerline:letters", BOTS: "ledgerline:notes"}  # channels; only on a cluster
ROSTER: Final = "{house}:referees"  # sorted set: referees by the engine's time of their last sign of life
HOUSE_TIME: Final = "{house}:time"  # milliseconds; runs only while referees do


def partition_of(game: str, partitions: int) -> int:
    """CRC-32 of the id, modulo: the same in every process, language and year."""
    return crc32(game.encode()) % partitions


def tag(partition: int) -> str:
    return f"{{p{partition:02x}}}"


def commands(partition: int) -> str:
    return f"{tag(partition)}:commands"


def turns(partition: int) -> str:
    return f"{tag(partition)}:turns"


def due(partition: int) -> str:
    return f"{tag(partition)}:due"


def dead(partition: int) -> str:
    return f"{tag(partition)}:dead"


def over(partition: int) -> str:
    """Sorted set: games that aren't being played, by the time when they may leave."""
    return f"{tag(partition)}:over"


def archived(partition: int) -> str:
    """Sorted set: the partition's games that are in the archive, by how many entries of them are."""
    return f"{tag(partition)}:archived"


def mark(partition: int) -> str:
    """Written by whoever must know that what came before is safe: see confirm_entry.lua."""
    return f"{tag(partition)}:mark"


def games(partition: int) -> str:
    """Sorted set: the partition's games by the time of their last entry."""
    return f"{tag(partition)}:games"


def bell(partition: int) -> str:
    """Channel that rings when a game has a new entry. A doorbell, never the truth."""
    return f"{tag(partition)}:bell"


def log(partition: int, game: str) -> str:
    return f"{tag(partition)}:g:{game}:log"


def public(partition: int, game: str) -> str:
    return f"{tag(partition)}:g:{game}:public"


def seat(partition: int, game: str, number: int) -> str:
    return f"{tag(partition)}:g:{game}:seat:{number}"


def verdicts(partition: int, game: str, speaker: int | None) -> str:
    """Hash: the speaker's command ids and the number of the entry that answers each."""
    return f"{tag(partition)}:g:{game}:verdicts:{'house' if speaker is None else speaker}"


def all_commands(partitions: Iterable[int]) -> list[str]:
    return [commands(partition) for partition in partitions]


def dismissed(partition: int, game: str, speaker: int | None, command_id: str) -> str:
    """For a minute: why a command was answered without an entry in the log."""
    return f"{tag(partition)}:g:{game}:dismissed:{'house' if speaker is None else speaker}:{command_id}"


def disputes(partition: int) -> str:
    """Sorted set: the ids of all the partition's disputes, by the wall time at which they leave."""
    return f"{tag(partition)}:disputes"


def disputes_waiting(partition: int) -> str:
    """Sorted set: those without an answer, by when they were raised."""
    return f"{tag(partition)}:disputes:waiting"


def disputes_told(partition: int) -> str:
    """Sorted set: those whose answer is to be completed when their game is over."""
    return f"{tag(partition)}:disputes:told"


def disputes_of(partition: int, game: str, speaker: int | None) -> str:
    """Hash: what a seat, or the operator, disputes in a game, and the answers. It outlives the game."""
    return f"{tag(partition)}:g:{game}:disputes:{'operator' if speaker is None else speaker}"


def disputes_found(partition: int, game: str) -> str:
    """Hash: what audits found in disputed games, by the dispute's id; for the operator alone."""
    return f"{tag(partition)}:g:{game}:disputes:found"
