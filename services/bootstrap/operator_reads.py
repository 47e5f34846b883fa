"""What an operator sees of the whole system and does to it, for the page `/operator` and `ledgerline top`.

Each part is read by itself: one that the engine's user may not read says so, with the command that shows it. A command that
is a dead letter, and what an audit of a running game found, aren't shown: they have what seats hide.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Final

from redis.exceptions import NoPermissionError

from schemas.commands import CommandEnvelope
from schemas.contract import Json
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import GameCreated, GameEnded, GameStarted
from schemas.field_types import MAX_SEATS
from schemas.web.disputes import DISPUTE_SCHEMA, derive_dispute_id
from services.auditor.jobs import resolve_jobs_url
from services.bootstrap.system_report import read_report, report_json
from services.ledger import RedisLedger
from services.ledger.engine.connection import EngineUnavailableError, connect, init_partition_count
from services.ledger.log.views import LogHead, ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports import ENGINE_ERRORS
from services.ledger.stores.disputes import RaiseOutcome, dispute_json
from services.ledger.stores.webhook_store import WEBHOOK
from services.runtime.settings import Settings

if TYPE_CHECKING:
    from services.auditor.job_queue import Jobs

OPENING: Final = 2 * MAX_SEATS + 2  # entries, in which a game begins
MOST_ROWS: Final = 50  # of games, dead letters, jobs and disputes
SHOWN_BY: Final = {  # the command that shows a part to whoever may ask for it
    "dead_letters": "ledgerline dead list",
    "disputes": "ledgerline disputes",
    "jobs": "ledgerline jobs",
    "games": "ledgerline games",
    "webhooks": "ledgerline jobs",
    "system": "ledgerline status",
}


class OperatorReads:
    """Reads and acts on one engine, on any thread, one call after the other."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._lock = settings, Lock()
        self._ledger: RedisLedger | None = None

    def overview(self, dead_after: str = "") -> Json:
        """Every part by its name; instead of one that can't be read: `{"error": why}`. Of the dead letters a page, from the one
        that follows `dead_after`."""
        parts: Mapping[str, Callable[[RedisLedger], object]] = {
            "system": lambda ledger: report_json(read_report(ledger, self._count_jobs())),
            "games": _games,
            "dead_letters": lambda ledger: _dead_letters(ledger, dead_after),
            "disputes": _disputes,
            "jobs": lambda _: self._list_jobs(),
            "webhooks": _webhooks,
        }
        with self._lock:
            return {name: self._read(name, part) for name, part in parts.items()}

    def act(self, what: str, name: str, reason: str = "") -> str:
        """Do what a button says; returns a sentence. Raises InvalidInputError: there is no such thing, or it can't be done;
        or one of ENGINE_ERRORS."""
        if (action := self._actions().get(what)) is None:
            raise InvalidInputError("action", f"is one of {', '.join(self._actions())}")
        with self._lock:
            try:
                return action(name, reason)
            except NoPermissionError:
                part = SHOWN_BY["jobs" if "job" in what else "dead_letters"]
                why = f"this gateway's user of the engine may not do that: use `{part.rpartition(' ')[0] or part}`"
                raise InvalidInputError("action", why) from None

    def close(self) -> None:
        """Let go of the engine."""
        if self._ledger is not None:
            self._ledger.close()

    def _actions(self) -> Mapping[str, Callable[[str, str], str]]:
        return {
            "retry dead letter": lambda name, _: self._end_dead_letter(name, retry=True),
            "drop dead letter": lambda name, _: self._end_dead_letter(name, retry=False),
            "retry job": lambda name, _: self._end_job(name, retry=True),
            "drop job": lambda name, _: self._end_job(name, retry=False),
            "dispute": self._dispute,
        }

    def _open(self) -> RedisLedger:
        if self._ledger is None:
            client = connect(self._settings.redis_url, f"operator-{secrets.token_hex(4)}")
            self._ledger = RedisLedger(client, init_partition_count(client))
        return self._ledger

    def _read(self, name: str, part: Callable[[RedisLedger], object]) -> object:
        try:
            return part(self._open())
        except NoPermissionError:
            return {
                "error": f"this gateway's user of the engine may not read that; `{SHOWN_BY[name]}` shows it"
            }
        except InvalidInputError as error:
            return {"error": str(error)}
        except (*ENGINE_ERRORS, EngineUnavailableError, CorruptDataError) as error:
            return {"error": f"it can't be read now: {type(error).__name__}"}

    @contextmanager
    def _open_jobs(self) -> Iterator[Jobs]:
        from services.auditor.job_queue import Jobs  # noqa: PLC0415 - a queue, which a gateway doesn't start with

        with closing(connect(resolve_jobs_url(self._settings))) as client:
            yield Jobs(client)

    def _count_jobs(self) -> dict[str, int] | None:
        try:
            with self._open_jobs() as jobs:
                return {str(state): count for state, count in jobs.count().items()}
        except (*ENGINE_ERRORS, EngineUnavailableError, InvalidInputError):
            return None

    def _list_jobs(self) -> list[Json]:
        with self._open_jobs() as jobs:
            return [
                {"id": job.id, "state": str(job.state), "kind": job.kind, "tries": job.tries, "why": job.why}
                for job in jobs.list_jobs(MOST_ROWS)
            ][:MOST_ROWS]

    def _end_job(self, id_: str, *, retry: bool) -> str:
        with self._open_jobs() as jobs:
            (jobs.retry if retry else jobs.drop)(id_)
        return f"{id_} is {'to be tried again' if retry else 'dropped'}."

    def _end_dead_letter(self, reference: str, *, retry: bool) -> str:
        store = self._open().dead_letters()
        if (dead := store.find(reference)) is None:
            raise InvalidInputError("dead letter", f"there is no {reference} any more")
        done = store.retry(dead) if retry else store.drop(dead)
        outcome = ("queued again" if retry else "dropped") if done else "gone already"
        return f"{reference} is {outcome}."

    def _dispute(self, entry: str, reason: str) -> str:
        """Dispute GAME:NUMBER."""
        game, _, number = entry.partition(":")
        if not number.isdecimal() or not 0 < int(number) <= self._open().head(game)[0]:
            raise InvalidInputError("entry", f"there is no entry {entry[:80]}; name it as GAME:NUMBER")
        dispute = DISPUTE_SCHEMA.read({"number": int(number), "reason": reason})
        name = derive_dispute_id(game, None, secrets.token_hex(12))
        if self._open().disputes().create(name, dispute) is not RaiseOutcome.RAISED:
            raise InvalidInputError("entry", "too many disputes of this game wait for their answer")
        return f"Entry {number} of game {game} is disputed: {name.id}."


def _games(ledger: RedisLedger) -> list[Json]:
    """The latest games: how long they are there, how far they are, and since when nothing happened. All of them are read in
    three round trips: a gateway that has much to do is late at each."""
    games = ledger.games(MOST_ROWS)
    heads = ledger.read_heads(games)
    lengths = [0 if isinstance(head, Exception) else head.sequence for head in heads]
    openings = ledger.read_views([ViewRequest(game, 0, (None,)) for game in games], OPENING)
    last = [
        ViewRequest(game, max(0, length - 1), (None,)) for game, length in zip(games, lengths, strict=True)
    ]
    found = zip(games, lengths, heads, openings, ledger.read_views(last, 1), strict=True)
    return [_game_row(game, length, read) for game, length, *read in found]


def _game_row(game: str, length: int, read: Sequence[LogHead | ViewPageOrError]) -> Json:
    """A game by its head, the page of its opening and that of its end, as far as these could be read."""
    for error in read:
        if isinstance(error, Exception):
            return {"game": game, "state": "can't be read", "why": str(error)}
    opening, end = (page.views[None] for page in read if isinstance(page, ViewPage))
    first = opening[:1]
    is_over = any(isinstance(event, GameEnded) for entry in end for event in entry.events)
    is_begun = any(isinstance(event, GameStarted) for entry in opening for event in entry.events)
    state = "stored" if not first else "over" if is_over else "playing" if is_begun else "waiting"
    created = [event.created for entry in first for event in entry.events if isinstance(event, GameCreated)]
    age_s = round(time() - created[0] / 1000) if created else None
    played_s = (end[0].at - first[0].at) / 1000 if first and end else 0.0  # by the games' own clock
    idle_s = None if age_s is None else max(0, round(age_s - played_s))
    return {"game": game, "state": state, "entries": length, "age_s": age_s, "idle_s": idle_s}


def _dead_letters(ledger: RedisLedger, after: str) -> list[Json]:
    """Without their commands, which have what a seat hides."""
    return [
        {
            "letter": dead.reference,
            "at_ms": dead.at_ms,
            "game": dead.envelope.game if dead.envelope else None,
            "seat": dead.envelope.seat if dead.envelope else None,
            "command": dead.envelope.command.type if isinstance(dead.envelope, CommandEnvelope) else None,
            "error": dead.reason.partition(":")[0],
        }
        for dead in ledger.dead_letters().list_all(MOST_ROWS, after)
    ]


def _disputes(ledger: RedisLedger) -> list[Json]:
    """What seats dispute, and whether it is answered; what was found, the page of the audit shows."""
    records = sorted(ledger.disputes().list_all(MOST_ROWS), key=lambda record: -record.raised_at_ms)[
        :MOST_ROWS
    ]
    shown = ("dispute", "game", "seat", "number", "reason", "since", "state", "final")
    return [{name: fields[name] for name in shown} for fields in map(dispute_json, records)]


def _webhooks(ledger: RedisLedger) -> list[Json]:
    """The seats whose webhook couldn't be notified, of some games; without addresses."""
    store, rows = ledger.webhooks(), list[Json]()
    for found in store.next_games()[:MOST_ROWS]:
        for seat in range(MAX_SEATS):
            stored = store.find(found.game, seat, WEBHOOK)
            if stored is not None:
                rows.append({"game": found.game, "seat": seat, "failed": bool(stored.failure)})
    return rows
