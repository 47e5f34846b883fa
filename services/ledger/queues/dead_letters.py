"""Dead letters: commands that broke a referee again and again, kept for an operator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import redis

from schemas.errors import InvalidInputError
from schemas.stored.codec import unpack_envelope
from schemas.stored.entries import ForeignCommandError, SentBy
from services.ledger.engine import keys
from services.ledger.engine.queries import Argument, Client
from services.ledger.scripts.lua_scripts import RETRY_DEAD_LETTER, run_script

MAX_DEAD_LETTERS: Final = 1_000  # of a partition; further ones are rejected and logged, and not kept
REFERENCE_PATTERN: Final = re.compile(r"p([0-9a-f]{2,3})/(\d+-\d+)")


class DeadLetter(NamedTuple):
    """One dead letter. `reference` names it: p07/1700000000000-0."""

    reference: str
    reason: str
    delivery_count: int
    at_ms: int  # milliseconds since 1970, by the engine's clock
    data: bytes
    envelope: (
        SentBy | None
    )  # without its command where its game isn't installed here; None where it can't be read


class DeadLetterStore:
    """Lists, retries and drops dead letters."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions

    def list_all(self, limit: int = 1000, after: str = "") -> list[DeadLetter]:
        """The oldest of every partition, the oldest first, at most so many; those that follow the one named `after`, which
        may be gone. Raises InvalidInputError: it can't be a name."""
        last_partition, last_id = self._parse_reference(after) if after else (-1, "0")
        last_ms = int(last_id.partition("-")[0])
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            first = last_ms if partition > last_partition else last_ms + 1  # of one moment, by partition
            pipe.xrange(
                keys.dead_letters(partition),
                f"({last_id}" if partition == last_partition else first,
                count=limit,
            )
        dead_letters = [
            _parse_dead_letter(partition, id_.decode(), fields)
            for partition, entries in enumerate(pipe.execute())
            for id_, fields in entries
        ]
        return sorted(dead_letters, key=lambda dead_letter: dead_letter.at_ms)[:limit]

    def find(self, reference: str) -> DeadLetter | None:
        """The dead letter of that name, if there is one. Raises InvalidInputError: it can't be a name."""
        partition, id_ = self._parse_reference(reference)
        for entry_id, fields in self._client.xrange(keys.dead_letters(partition), id_, id_):
            return _parse_dead_letter(partition, entry_id.decode(), fields)
        return None

    def retry(self, dead_letter: DeadLetter) -> bool:
        """Queue its command again. False if it is gone."""
        partition, id_ = self._parse_reference(dead_letter.reference)
        script_keys = [keys.dead_letters(partition), keys.commands(partition)]
        if (envelope := dead_letter.envelope) is not None:
            script_keys.append(keys.rejection(partition, envelope.game, envelope.seat, envelope.id))
        return bool(
            run_script(
                self._client,
                RETRY_DEAD_LETTER,
                [(script_keys, [id_, keys.WAKEUP_CHANNELS[keys.REFEREE_GROUP]])],
            )[0]
        )

    def drop(self, dead_letter: DeadLetter) -> bool:
        """Delete it. False if it is gone."""
        partition, id_ = self._parse_reference(dead_letter.reference)
        return bool(self._client.xdel(keys.dead_letters(partition), id_))

    def _parse_reference(self, reference: str) -> tuple[int, str]:
        matched = REFERENCE_PATTERN.fullmatch(reference)
        if matched is None or int(matched[1], 16) >= self.partitions:
            raise InvalidInputError(
                "dead letter", "is named as `ledgerline dead list` shows it: p07/1700000000000-0"
            )
        return int(matched[1], 16), matched[2]


def dead_letter_fields(reason: str, data: bytes, delivery_count: int) -> Iterator[Argument]:
    """A dead letter's stream fields, as reject_command.lua takes them."""
    yield from ("reason", reason)
    yield from ("c", data)
    yield from ("deliveries", delivery_count)


def _parse_dead_letter(partition: int, id_: str, fields: Mapping[bytes, bytes]) -> DeadLetter:
    data = fields.get(b"c", b"")
    envelope: SentBy | None = None
    try:
        envelope = unpack_envelope(data)
    except ForeignCommandError as error:
        envelope = error.header
    except InvalidInputError:
        pass
    return DeadLetter(
        reference=f"{keys.hash_tag(partition)[1:-1]}/{id_}",
        reason=fields.get(b"reason", b"").decode(errors="replace"),
        delivery_count=int(fields.get(b"deliveries", 0)),
        at_ms=int(id_.partition("-")[0]),
        data=data,
        envelope=envelope,
    )
