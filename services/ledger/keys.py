"""The names of the keys in Redis, and which partition a game lives in. Pure.

Every key of a game carries its partition's hash tag, so that one script may touch all of
them on a cluster, and a partition moves between nodes as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zlib import crc32

DEFAULT_PARTITIONS: Final = 256
MAX_PARTITIONS: Final = 4096
PARTITION_COUNT_KEY: Final = "ledgerline:birth"  # what was fixed when the first service met this engine
REFEREE_GROUP: Final = "referees"  # consumer group of the commands streams
BOT_GROUP: Final = "bots"  # consumer group of the turns streams
NOTIFICATION_PATTERN: Final = "{p*}:bell"
WAKEUP_CHANNELS: Final = {
    REFEREE_GROUP: "ledgerline:letters",
    BOT_GROUP: "ledgerline:notes",
}  # channels; only on a cluster
MEMBERSHIP_KEY: Final = (
    "{house}:referees"  # sorted set: referees by the engine's time of their last sign of life
)
GAME_CLOCK_KEY: Final = "{house}:time"  # milliseconds; runs only while referees do


def partition_of(game: str, partitions: int) -> int:
    """CRC-32 of the id, modulo: the same in every process, language and year."""
    return crc32(game.encode()) % partitions


def hash_tag(partition: int) -> str:
    return f"{{p{partition:02x}}}"


def commands(partition: int) -> str:
    return f"{hash_tag(partition)}:commands"


def bot_tasks(partition: int) -> str:
    return f"{hash_tag(partition)}:turns"


def deadlines(partition: int) -> str:
    return f"{hash_tag(partition)}:due"


def dead_letters(partition: int) -> str:
    return f"{hash_tag(partition)}:dead"


def evictions(partition: int) -> str:
    """Sorted set: games that aren't being played, by the time when they may leave."""
    return f"{hash_tag(partition)}:over"


def archived_lengths(partition: int) -> str:
    """Sorted set: the partition's games that are in the archive, by how many entries of them are."""
    return f"{hash_tag(partition)}:archived"


def confirmation_mark(partition: int) -> str:
    """Written by whoever must know that what came before is safe: see confirm_entry.lua."""
    return f"{hash_tag(partition)}:mark"


def games(partition: int) -> str:
    """Sorted set: the partition's games by the time of their last entry."""
    return f"{hash_tag(partition)}:games"


def notification_channel(partition: int) -> str:
    """Channel that rings when a game has a new entry. A doorbell, never the truth."""
    return f"{hash_tag(partition)}:bell"


def log(partition: int, game: str) -> str:
    return f"{hash_tag(partition)}:g:{game}:log"


def public_view(partition: int, game: str) -> str:
    return f"{hash_tag(partition)}:g:{game}:public"


def private_view(partition: int, game: str, seat: int) -> str:
    return f"{hash_tag(partition)}:g:{game}:seat:{seat}"


def command_results(partition: int, game: str, sender: int | None) -> str:
    """Hash: the speaker's command ids and the number of the entry that answers each."""
    return f"{hash_tag(partition)}:g:{game}:verdicts:{'house' if sender is None else sender}"


def all_commands(partitions: Iterable[int]) -> list[str]:
    return [commands(partition) for partition in partitions]


def rejection(partition: int, game: str, sender: int | None, command_id: str) -> str:
    """For a minute: why a command was answered without an entry in the log."""
    return f"{hash_tag(partition)}:g:{game}:dismissed:{'house' if sender is None else sender}:{command_id}"


def disputes(partition: int) -> str:
    """Sorted set: the ids of all the partition's disputes, by the wall time at which they leave."""
    return f"{hash_tag(partition)}:disputes"


def unanswered_disputes(partition: int) -> str:
    """Sorted set: those without an answer, by when they were raised."""
    return f"{hash_tag(partition)}:disputes:waiting"


def provisional_disputes(partition: int) -> str:
    """Sorted set: those whose answer is to be completed when their game is over."""
    return f"{hash_tag(partition)}:disputes:told"


def sender_disputes(partition: int, game: str, sender: int | None) -> str:
    """Hash: what a seat, or the operator, disputes in a game, and the answers. It outlives the game."""
    return f"{hash_tag(partition)}:g:{game}:disputes:{'operator' if sender is None else sender}"


def dispute_findings(partition: int, game: str) -> str:
    """Hash: what audits found in disputed games, by the dispute's id; for the operator alone."""
    return f"{hash_tag(partition)}:g:{game}:disputes:found"
