"""Tables as viewers see them, kept folded: a request applies only the entries that are new.

A viewer's entries are read as its view is read (`GameViews`), so nothing is shown here that the view
doesn't show. A fold whose last entry is gone, or has another head, is begun anew: a fail-over lost the log's end.
From the same folds comes what a seat may do after the latest entry, for clients that know no rules, and the table after
it, for those that show one. The search behind a suggestion takes long, so there is one at a time, and who asks for many
waits for the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic_core import to_json

from schemas.errors import InvalidInputError, LedgerlineError
from schemas.events import SeatFreed, SeatTaken
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedNames, names_in
from services.gateway.errors import NotFoundError, NotYetError, NotYoursError, RequestError
from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.games.open_games import Creator
from services.gateway.games.service import GatewayService
from services.gateway.models.table_models import JudgedChoice, ListedGame, Suggestions
from services.gateway.models.trains import TableAnswer
from services.gateway.tables.table_port import TableCatalog, TableFold
from services.runtime.executors import FairThreadPool
from services.runtime.forgetful_mapping import Recent
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_THREADS: Final = 2  # that fold and list: they share the interpreter with the event loop
RETRY_AFTER_S: Final = 3
MAX_FOLDS: Final = 512  # at the end of their views, of all games and viewers, of 350 KB each
MAX_OWN_PARTS: Final = 16  # of them, of games with boards that their creators brought, of 1 MB each
MAX_REPLAYS: Final = 32  # whose folds on the way are kept
CHECKPOINT_STEP: Final = 32  # entries between the folds that are kept of a replay
MAX_LISTED: Final = 4_096  # games whose row in a list is kept
PAGE_SIZE: Final = 1_000
UNWRITTEN: Final = {"age_ms", "moves"}  # of a table's fields: they differ by who looks
MAX_MOVE_LISTS: Final = 8  # kept of a fold: most followers have the entry before the latest
MAX_COMMANDS: Final = 2_000  # that an entry lists: a stranger's board may offer 50,000, of 3 MB

T = TypeVar("T")
FoldKey = tuple[str, Seat | None]
Commands = list[dict[str, object]]
ReadAfter = Callable[[int], Awaitable[Sequence[ViewEntry]]]  # at most PAGE_SIZE entries after a number
Shown: TypeAlias = Seat | Literal["public"] | None  # whose view a request asks for; None: its own


class WrittenTable(NamedTuple):
    """A table as it is sent: each field as JSON, without its moves and its age; hashes of them; and when it came to be, in
    milliseconds since 1970."""

    fields: dict[str, bytes]
    hashes: dict[str, int]
    since_ms: int


class LatestFold:
    """A fold of a whole view; and after its last entry, once it was asked for, what its seat may do, the table, and the
    moves after some entries, as JSON."""

    __slots__ = ("commands", "moves", "table", "written")

    def __init__(self, table: TableFold) -> None:
        self.table = table
        self.go_on()

    def go_on(self) -> None:
        """Forget what was so after the last entry: there is another one."""
        self.commands: Commands | None = None
        self.written: WrittenTable | None = None
        self.moves: dict[int, bytes] = {}

    def is_at(self, number: int, head: bytes) -> bool:
        """Whether this entry is the last one that was applied, as far as its head is known."""
        return self.table.number == number and (not head or self.table.head in (b"", head))


class TableFolds:
    """Folds of views, the least used forgotten."""

    def __init__(self, service: GatewayService, catalog: TableCatalog) -> None:
        self.service, self.catalog, self._views = service, catalog, service.views
        self._latest = Recent[FoldKey, LatestFold](MAX_FOLDS)
        self._checkpoints = Recent[FoldKey, dict[int, TableFold]](MAX_REPLAYS)
        self._listed = Recent[str, tuple[ListedGame, SaltedNames]](MAX_LISTED)
        self._locks: dict[FoldKey, asyncio.Lock] = {}
        self._threads = FairThreadPool("tables", MAX_THREADS)

    def close(self) -> None:
        """Compute nothing more; what is computed now is waited for by nobody."""
        self._threads.shutdown()

    async def compute(self, asker: Hashable, call: Callable[[], T]) -> T:
        """The result of a call on a thread, which an asker who computes much waits for."""
        return await asyncio.wrap_future(self._threads.submit(asker, call))

    async def viewer(self, game: str, bearer: str | None, client: str, shown: Shown = None) -> Seat | None:
        """Whose table a request is shown. Raises RequestError."""
        return await self._views.resolve_shown(game, bearer, shown, client)

    async def read(self, game: str, viewer: Seat | None, client: str, answer: Callable[[TableFold], T]) -> T:
        """An answer from the fold of the viewer's whole view. It is found on a thread: on a board of somebody's own
        it may take a tenth of a second, in which the event loop serves others. Raises RequestError."""
        key = game, viewer
        async with self._lock(key):
            fold = self._take(key)
            if not await self._shows_names(fold.table, client):
                fold = LatestFold(self.catalog.new_fold(game, viewer))
            await self._read_on(key, fold, self._reader(key, client), client)
            return await self.compute(client, lambda: answer(fold.table))

    async def board(self, game: str, viewer: Seat | None, client: str) -> bytes:
        """The drawing of a game's board, as JSON. Nothing else waits for it. Raises RequestError."""
        found = await self.read(game, viewer, client, lambda fold: fold.board(client))
        if found is None:
            raise NotFoundError("SHAPE-1", f"game {game} is played on no board")
        drawing = asyncio.wrap_future(found)
        drawing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # maybe nobody waits
        try:
            return await asyncio.shield(drawing)  # others may wait for it, too
        except LedgerlineError as error:
            log.warning("board not drawn", game=game, why=str(error))
            raise NotYetError("no time to draw this board now; ask again", RETRY_AFTER_S) from None

    async def legal_after(self, game: str, seat: Seat, number: int, head: bytes) -> Commands:
        """The seat's legal commands after this entry; none where it isn't asked to act, or the game has gone on. They are
        found once, however many clients of the seat ask.

        Raises MissingEntryError, CorruptDataError, or what the engine's client does."""
        key = game, seat

        async def read_after(number: int) -> Sequence[ViewEntry]:
            return await self.service.ledger.read_view(game, seat, number, PAGE_SIZE)

        async with self._lock(key):
            fold = await self._take_at(key, number, head, read_after)
            if fold is None:
                return []
            if fold.commands is None:
                fold.commands = await self.compute(game, lambda: fold.table.legal_commands(MAX_COMMANDS))
            return fold.commands

    async def with_legal(self, game: str, seat: Seat, entry: EncodedEntry) -> str:
        """The latest entry as it is sent to a seat, with what the seat may do after it. Raises as `legal_after`."""
        commands = await self.legal_after(game, seat, entry.number, entry.head)
        return f'{entry.text[:-1]},"legal":{to_json(commands).decode()}}}' if commands else entry.text

    async def table_after(
        self, key: FoldKey, entry: EncodedEntry, since: int, client: str, *, is_first: bool
    ) -> tuple[WrittenTable, bytes] | None:
        """The table after this entry, and its moves after entry `since`; None where the game has gone on. It is written
        once, however many look. With `is_first` its names are compared with the view's: they may have been erased.

        Raises RequestError, MissingEntryError, CorruptDataError, or what the engine's client does."""
        async with self._lock(key):
            if (
                is_first
                and key in self._latest
                and not await self._shows_names(self._latest[key].table, client)
            ):
                del self._latest[key]
            fold = await self._take_at(key, entry.number, entry.head, self._reader(key, client))
            if fold is None:
                return None
            if fold.written is None or since not in fold.moves:
                table = await self.compute(key[0], partial(read_table, fold.table, since, with_legal=True))
                if len(fold.moves) >= MAX_MOVE_LISTS:
                    fold.moves.clear()
                await self.note_now(table)
                fold.written = fold.written or _write_table(table)
                fold.moves[since] = to_json(table.moves)
            return fold.written, fold.moves[since]

    async def note_now(self, table: TableAnswer) -> None:
        """Say in a table what its view doesn't: which seats are free now, and whether its bots are late."""
        viewer = None if table.viewer == "public" else table.viewer
        table.free_seats = await self.free_now(table.game, viewer, table.number, table.free_seats)
        if table.status == "playing" and any(seat.policy for seat in table.seats):
            table.bots_late = await self.service.ledger.has_late_bots(table.game)

    async def at(
        self, game: str, viewer: Seat | None, client: str, number: int, field: str = "at"
    ) -> TableFold:
        """The fold of the view up to entry `number`. Raises RequestError, or InvalidInputError about the request's
        `field`: there is none."""
        key = game, viewer
        async with self._lock(key):
            kept = self._checkpoints[key] = self._checkpoints.get(key, {})
            if kept and not await self._shows_names(kept[max(kept)], client):
                kept.clear()
            start = max((place for place in kept if place <= number), default=0)
            fold = kept[start].copy() if start else self.catalog.new_fold(game, viewer)
            while fold.number < number:
                step = min(number, (fold.number // CHECKPOINT_STEP + 1) * CHECKPOINT_STEP) - fold.number
                entries, length = await self._read(key, fold.number, step, client)
                if not entries:
                    raise InvalidInputError(field, f"{number} isn't between 1 and {length}")
                checkpoint = await self.compute(client, partial(_apply, fold, entries))
                if checkpoint is not None:
                    kept[fold.number] = checkpoint
            return fold

    async def listed(self, game: str, client: str) -> ListedGame | None:
        """A game's row in a list, as the public sees it; None where it is gone meanwhile. Raises what folding it does, or
        the engine's client."""
        row, shown_names = self._listed.get(game, (None, None))
        names = await self.service.ledger.read_names(game)
        if (
            row is not None
            and names == shown_names
            and (row.status == "over" or row.number == await self.service.ledger.read_length(game))
        ):
            return row
        try:
            row = await self.read(game, None, client, lambda fold: fold.listed())
        except RequestError:
            return None
        shown_free = [seat.seat for seat in row.seats if seat.free]
        free = await self.free_now(game, None, row.number, shown_free)
        row.free = len(free)
        for seat in row.seats:
            seat.free = seat.seat in free
        self._listed[game] = row, names
        return row

    async def free_now(
        self, game: str, viewer: Seat | None, number: int, shown_free: Sequence[Seat]
    ) -> list[Seat]:
        """Which seats may be taken now, by what a viewer is shown as free up to an entry: the public may be shown it late.
        Raises what reading the view does."""
        free = set(shown_free)
        if free and await self._views.spectator_delay(game, viewer):
            for entry in await self.service.ledger.read_view(game, viewer, number, PAGE_SIZE):
                for event in entry.events:
                    if isinstance(event, SeatTaken):
                        free.discard(event.seat)
                    elif isinstance(event, SeatFreed):
                        free.add(event.seat)
        return sorted(free)

    async def _read(
        self, key: FoldKey, after: int, most: int, client: str
    ) -> tuple[Sequence[ViewEntry], int]:
        """Entries of a viewer's view, who is authorized, and how many it has."""
        game, viewer = key
        location = await self._views.locate(game, client)
        return await self._views.read_entries(game, viewer, after, most, location)

    def _reader(self, key: FoldKey, client: str) -> ReadAfter:
        """What reads the entries of a viewer's view after a number, for a client who is authorized."""

        async def read_after(number: int) -> Sequence[ViewEntry]:
            return (await self._read(key, number, PAGE_SIZE, client))[0]

        return read_after

    async def _shows_names(self, fold: TableFold, client: str) -> bool:
        """Whether a fold that was kept shows the names that the view shows now: they may have been erased."""
        if not fold.last_named:
            return True
        entries, _ = await self._read((fold.game, fold.viewer), 0, fold.last_named, client)
        return names_in(entries) == fold.names

    async def _take_at(
        self, key: FoldKey, number: int, head: bytes, read_after: ReadAfter
    ) -> LatestFold | None:
        """The fold whose last entry is this one, read on if need be; None where the game has gone on."""
        fold = self._take(key)
        if fold.is_at(number, head):
            self._latest[key] = fold
        else:
            await self._read_on(key, fold, read_after, key[0])
        return fold if fold.is_at(number, head) else None

    def _take(self, key: FoldKey) -> LatestFold:
        """The fold of a whole view, which isn't kept until `_read_on` is done: what fails half-way is begun anew."""
        return self._latest.pop(key, None) or LatestFold(self.catalog.new_fold(*key))

    async def _read_on(self, key: FoldKey, fold: LatestFold, read_after: ReadAfter, asker: Hashable) -> None:
        """Apply what is new, and keep the fold. Begins anew where the last entry isn't what was applied."""
        is_whole = False
        while not is_whole:
            table = fold.table
            entries = await read_after(max(0, table.number - 1))
            is_whole = len(entries) < PAGE_SIZE
            if table.number:
                if not entries or entries[0].shown.head != table.head:
                    fold.table, is_whole = self.catalog.new_fold(*key), False
                    fold.go_on()
                    continue
                entries = entries[1:]
            if entries:
                fold.go_on()
                await self.compute(asker, partial(table.apply, entries))
        self._latest[key] = fold
        if fold.table.has_own_parts:
            large = [other for other, kept in self._latest.items() if kept.table.has_own_parts]
            for other in large[:-MAX_OWN_PARTS]:
                del self._latest[other]

    def _lock(self, key: FoldKey) -> asyncio.Lock:
        if len(self._locks) > 4 * MAX_FOLDS:
            self._locks = {other: lock for other, lock in self._locks.items() if lock.locked()}
        return self._locks.setdefault(key, asyncio.Lock())


def _apply(fold: TableFold, entries: Sequence[ViewEntry]) -> TableFold | None:
    """Apply entries, and copy the fold where it is to be kept."""
    fold.apply(entries)
    return fold.copy() if fold.number % CHECKPOINT_STEP == 0 else None


def read_table(fold: TableFold, since: int, *, with_legal: bool) -> TableAnswer:
    """The table with the moves after entry `since`, and what its seat may do, if that is asked."""
    table = fold.table(since)
    if with_legal and fold.viewer is not None:
        table.legal = fold.legal(MAX_COMMANDS).commands
    return table


def _write_table(table: TableAnswer) -> WrittenTable:
    fields = {name: to_json(value) for name, value in table if name not in UNWRITTEN}
    hashes = {name: hash(json) for name, json in fields.items()}
    return WrittenTable(fields, hashes, table.created + table.at)


SUGGESTION_COST: Final = 25  # of the rate, in commands
MAX_WAIT_S: Final = 25.0  # for the requests before, and the suggestion itself


class SuggestionQueue:
    """Answers requests for suggestions: a seat's while its game is played, if the table allows it, and
    everybody's that may watch the game once it is over."""

    def __init__(self, service: GatewayService, folds: TableFolds) -> None:
        self._service, self._folds = service, folds
        self._thread = FairThreadPool("suggestions", 1)

    def close(self) -> None:
        """Begin no more."""
        self._thread.shutdown()

    async def suggest(
        self, game: str, bearer: str | None, client: str, number: int | None, seat: int | None
    ) -> Suggestions:
        """Suggest moves to the seat (None: the token's) after this entry (None: now). Raises RequestError."""
        location = await self._service.views.locate(game, client)
        shown = seat if seat is not None else await self._service.authorization.require_seat(game, bearer)
        viewer = await self._folds.viewer(game, bearer, client, shown)
        if not await self._service.views.is_over(game, location):
            await self._require_allowed(game)
        self._service.budgets.charge([Creator.at(client)], SUGGESTION_COST)
        if number is None:
            fold = await self._folds.read(game, viewer, client, lambda latest: latest.copy())
        else:
            fold = await self._folds.at(game, viewer, client, number)
        _require_bot(fold)
        return await self._think(client, fold.suggestions)

    async def judge(
        self, game: str, bearer: str | None, client: str, place: int, seat: int | None
    ) -> JudgedChoice:
        """A choice of the seat (None: the token's), against what it might have done. Raises RequestError."""
        await self._service.views.require_finished(game, bearer, client)
        shown = seat if seat is not None else await self._service.authorization.require_seat(game, bearer)
        viewer = await self._folds.viewer(game, bearer, client, shown)
        choices = await self._service.finished_games.read_choices(game, shown, client)
        if place >= len(choices):
            raise NotFoundError("SHAPE-1", f"seat {shown} made {len(choices)} choices, from 0 on")
        number, command = choices[place]
        fold = await self._folds.at(game, viewer, client, number - 1)
        _require_bot(fold)
        judged = await self._think(client, partial(fold.judge, command))
        judged.place, judged.choices = place, len(choices)
        return judged

    async def _think(self, client: str, call: Callable[[], T | None]) -> T:
        """The answer of a call that blocks, in the client's turn. Raises NotYetError: there is none in time."""
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                answer = await asyncio.wrap_future(self._thread.submit(client, call))
        except TimeoutError:
            raise _busy() from None
        if answer is None:
            raise _busy()
        return answer

    async def _require_allowed(self, game: str) -> None:
        """Raises NotYoursError: the table was made without suggestions."""
        if not (await self._service.creations.find(game)).access.suggestions:
            detail = "this table was made without suggestions; ask when the game is over"
            raise NotYoursError(detail, "SUGGEST-1")


def _require_bot(fold: TableFold) -> None:
    """Raises NotYoursError."""
    if not fold.has_suggestions:
        raise NotYoursError("no bot that plays this game can say what a move is worth", "SUGGEST-1")


def _busy() -> NotYetError:
    return NotYetError("no time to think of it now; ask again", RETRY_AFTER_S)
