"""Dead letters: commands that broke a referee again and again, for an operator to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import redis

from schemas.codec import unpack_letter
from schemas.commands import Letter
from schemas.contract import Malformed
from services.ledger import keys
from services.ledger.scripts import REVIVE, run

DEAD_MOST: Final = 1_000  # of a partition; past it a dead letter is told and logged, and not kept
REFERENCE: Final = re.compile(r"p([0-9a-f]{2,3})/(\d+-\d+)")


class DeadLetter(NamedTuple):
    """One dead letter. `reference` names it: p07/1700000000000-0."""

    reference: str
    reason: str
    deliveries: int
    at: int  # milliseconds since 1970, by the engine's clock
    data: bytes
    letter: Letter | None  # None where it can't be read


class DeadLetters:
    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions = partitions

    def all(self, most: int = 1000) -> list[DeadLetter]:
        """The oldest of every partition, the oldest first, at most so many."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.xrange(keys.dead(partition), count=most)
        found = [
            _read(partition, id_.decode(), fields)
            for partition, entries in enumerate(pipe.execute())
            for id_, fields in entries
        ]
        return sorted(found, key=lambda dead: dead.at)[:most]

    def one(self, reference: str) -> DeadLetter | None:
        """The one of that name, if there is one. Raises Malformed: no such name can be."""
        partition, id_ = self._place(reference)
        for found, fields in self._client.xrange(keys.dead(partition), id_, id_):
            return _read(partition, found.decode(), fields)
        return None

    def retry(self, dead: DeadLetter) -> bool:
        """Put it on its way again. False if it is gone."""
        partition, id_ = self._place(dead.reference)
        called = [keys.dead(partition), keys.commands(partition)]
        if (letter := dead.letter) is not None:
            called.append(keys.dismissed(partition, letter.game, letter.seat, letter.id))
        return bool(run(self._client, REVIVE, [(called, [id_, keys.KNOCK[keys.REFEREES]])])[0])

    def drop(self, dead: DeadLetter) -> bool:
        """Forget it. False if it is gone."""
        partition, id_ = self._place(dead.reference)
        return bool(self._client.xdel(keys.dead(partition), id_))

    def _place(self, reference: str) -> tuple[int, str]:
        found = REFERENCE.fullmatch(reference)
        if found is None or int(found[1], 16) >= self.partitions:
            raise Malformed("dead letter", "is named as `ledgerline dead list` shows it: p07/1700000000000-0")
        return int(found[1], 16), found[2]


def fields_of(reason: str, data: bytes, deliveries: int) -> Iterator[Any]:
    """A dead letter as reject_command.lua keeps it."""
    for name, value in (("reason", reason), ("c", data), ("deliveries", deliveries)):
        yield from (name, value)


def _read(partition: int, id_: str, fields: Any) -> DeadLetter:
    data = fields.get(b"c", b"")
    try:
        letter = unpack_letter(data)
    except Malformed:
        letter = None
    return DeadLetter(
        f"{keys.tag(partition)[1:-1]}/{id_}",
        fields.get(b"reason", b"").decode(errors="replace"),
        int(fields.get(b"deliveries", 0)),
        int(id_.partition("-")[0]),
        data,
        letter,
    )
