"""The names of the keys in Redis, and which partition a game lives in. Pure.

Every key of a game carries its partition's hash tag, so that one script may touch all of
them on a cluster, and a partition moves between nodes as a whole.
"""

from __future__ import annotations

from typing import Final
from zlib import crc32

DEFAULT_PARTITIONS: Final = 256
MAX_PARTITIONS: Final = 4096
PARTITION_COUNT_KEY: Final = "ledgerline:partitions"  # what the first service of this engine fixed
REFEREE_GROUP: Final = "referees"  # consumer group of the commands streams
BOT_GROUP: Final = "bots"  # consumer group of the bot tasks
# Channels by consumer group; used on a cluster only.
WAKEUP_CHANNELS: Final = {REFEREE_GROUP: "ledgerline:commands", BOT_GROUP: "ledgerline:bot-tasks"}
# Sorted sets: the members of each kind of service by the engine's time of their last heartbeat.
MEMBERSHIP_KEY: Final = "{shared}:referees"
BOTS_KEY: Final = "{shared}:bots"
AUDITORS_KEY: Final = "{shared}:auditors"
GATEWAYS_KEY: Final = "{shared}:gateways"
GAME_CLOCK_KEY: Final = "{shared}:game-clock"  # milliseconds; runs only while referees do


def partition_of(game: str, partitions: int) -> int:
    """CRC-32 of the id, modulo: the same in every process, language and year."""
    return crc32(game.encode()) % partitions


def hash_tag(partition: int) -> str:
    """What keeps a partition's keys in one slot of a cluster."""
    return f"{{p{partition:02x}}}"


def commands(partition: int) -> str:
    """Stream: the commands of the partition's games."""
    return f"{hash_tag(partition)}:commands"


def bot_tasks(partition: int) -> str:
    """Stream: tasks for the bots."""
    return f"{hash_tag(partition)}:bot-tasks"


def deadlines(partition: int) -> str:
    """Sorted set: games by the game clock's time at which a referee must look at them."""
    return f"{hash_tag(partition)}:deadlines"


def dead_letters(partition: int) -> str:
    """Stream: commands that broke a referee."""
    return f"{hash_tag(partition)}:dead-letters"


def evictions(partition: int) -> str:
    """Sorted set: games that aren't being played, by the wall time at which they may leave."""
    return f"{hash_tag(partition)}:evictions"


def archived_lengths(partition: int) -> str:
    """Sorted set: the partition's games that are in the archive, by how many of their entries are."""
    return f"{hash_tag(partition)}:archived"


def stream_removals(partition: int) -> str:
    """Sorted set: games whose file is in the engine beside their streams, by the wall time at which those may go."""
    return f"{hash_tag(partition)}:stream-removals"


def confirmation_mark(partition: int) -> str:
    """Written behind what must be durable or replicated: see confirm_entry.lua."""
    return f"{hash_tag(partition)}:confirmation-mark"


def games(partition: int) -> str:
    """Sorted set: the partition's public games by the time of their last entry."""
    return f"{hash_tag(partition)}:games"


def unlisted_games(partition: int) -> str:
    """Sorted set: the same of the games that aren't public, so that no list of games can show them."""
    return f"{hash_tag(partition)}:unlisted"


def notification_channel(partition: int, game: str) -> str:
    """Channel of the notifications of a game. One may be lost: the stream is the truth."""
    return f"{hash_tag(partition)}:{{{game}}}:notifications"


def log(partition: int, game: str) -> str:
    """Stream: the game's entries; the id `7-0` is the entry's number."""
    return f"{hash_tag(partition)}:g:{game}:log"


def public_view(partition: int, game: str) -> str:
    """Stream: what everybody sees of each entry, with the private parts of all seats. Each 16th has the head after it."""
    return f"{hash_tag(partition)}:g:{game}:public"


def chain_head(partition: int, game: str) -> str:
    """String: the number of the game's last entry, and the head after it."""
    return f"{hash_tag(partition)}:g:{game}:head"


def command_results(partition: int, game: str, sender: int | None) -> str:
    """Hash: the sender's command ids and the number of each one's entry."""
    return f"{hash_tag(partition)}:g:{game}:results:{'server' if sender is None else sender}"


def game_file(partition: int, game: str) -> str:
    """String: the file of a finished game (docs/how-to/archive.md). Once it is there, the game needs no streams."""
    return f"{hash_tag(partition)}:g:{game}:file"


def token_generations(partition: int, game: str) -> str:
    """Hash: how often the tokens of each seat, and of the host, were withdrawn. It outlives the game."""
    return f"{hash_tag(partition)}:g:{game}:tokens"


def creator(partition: int, game: str) -> str:
    """String, for a month: a digest of who created the game, by whom its bots share time to think."""
    return f"{hash_tag(partition)}:g:{game}:creator"


def late_bots(partition: int, game: str) -> str:
    """String, for a minute: bots of the game waited for time to think."""
    return f"{hash_tag(partition)}:g:{game}:late-bots"


def player_names(partition: int, game: str) -> str:
    """Hash: the names of the game's players with their salts, by the commitments in its log. What is deleted here is
    forgotten."""
    return f"{hash_tag(partition)}:g:{game}:names"


def webhooks(partition: int, game: str) -> str:
    """Hash: the webhook of each seat that has one, the entry that it was notified of last, and why that fails."""
    return f"{hash_tag(partition)}:g:{game}:webhooks"


def webhook_games(partition: int) -> str:
    """Sorted set: the partition's games that have webhooks, by when one was set."""
    return f"{hash_tag(partition)}:webhooks"


def rejection(partition: int, game: str, sender: int | None, command_id: str) -> str:
    """String, for a minute: why a command was rejected without an entry."""
    return f"{hash_tag(partition)}:g:{game}:rejected:{'server' if sender is None else sender}:{command_id}"


def disputes(partition: int) -> str:
    """Sorted set: the ids of all the partition's disputes, by the wall time at which they leave."""
    return f"{hash_tag(partition)}:disputes"


def unanswered_disputes(partition: int) -> str:
    """Sorted set: those without an answer, by when they were raised."""
    return f"{hash_tag(partition)}:disputes:unanswered"


def provisional_disputes(partition: int) -> str:
    """Sorted set: those whose answer is to be completed when their game is over."""
    return f"{hash_tag(partition)}:disputes:provisional"


def sender_disputes(partition: int, game: str, sender: str) -> str:
    """Hash: the disputes of a seat's holder, or the operator, in a game, and the answers. It outlives the game."""
    return f"{hash_tag(partition)}:g:{game}:disputes:{sender}"


def dispute_findings(partition: int, game: str) -> str:
    """Hash: what audits found in disputed games, by the dispute's id; for the operator alone."""
    return f"{hash_tag(partition)}:g:{game}:disputes:findings"
