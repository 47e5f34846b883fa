"""A game that is followed, and its viewers: what each is handed, and how each ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pydantic_core import to_json

from schemas.codec import Corrupt
from schemas.entries import ViewEntry, write_proof, write_view
from schemas.field_types import Seat
from services.ledger.async_ledger import Page, Ring
from services.ledger.view_merge import TakenBack

BEHIND_MOST: Final = 1_000  # entries that wait for a slow viewer before it is dropped

Sent = tuple[int, str | None, str]  # number, the viewer's command that it answers, JSON text
Hand = Callable[[Sent], bool]  # sends an entry at once; False where the viewer is too far behind


class Dropped(Exception):
    """The viewer doesn't keep up; it may come back and go on from its last number."""


class Damaged(Exception):
    """The game's view can't be read on. What exactly is broken stays in the log: it may be a
    seat's secret part."""


End = Dropped | Damaged | TakenBack  # why a session is over


class Session:
    """One viewer of one game, for as long as somebody listens: it reads what there is up to entry
    `start` by itself, and is handed the rest. Entries wait in its queue, or where `hand` is set they
    go straight on."""

    __slots__ = ("hand", "heads", "proofs", "queue", "start", "viewer")

    def __init__(self, viewer: Seat | None, start: int, proofs: bool = False) -> None:
        self.viewer, self.start, self.proofs = viewer, start, proofs
        self.queue: asyncio.Queue[Sent | End] = asyncio.Queue(BEHIND_MOST)
        self.hand: Hand | None = None
        self.heads: set[bytes] = set()  # after entry `start`: as it was read, and as all follow it

    def starts_at(self, head: bytes) -> None:
        """A head after entry `start`, empty where it isn't known. The log may have lost its end
        between what this viewer read and what all are handed: then there are two."""
        if head:
            self.heads.add(head)
        if len(self.heads) > 1:
            self.end(TakenBack(f"entry {self.start} isn't the one that others were handed"))

    def put(self, sent: Sent) -> None:
        if self.hand is not None:
            if not self.hand(sent):
                self.end(Dropped("too far behind"))
            return
        try:
            self.queue.put_nowait(sent)
        except asyncio.QueueFull:
            self.end(Dropped(f"more than {BEHIND_MOST} entries behind"))

    def end(self, why: End) -> None:
        """Drop what waits; the listener is told why, and gets nothing more."""
        self.hand = None
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(why)


class Game:
    """A followed game: how far its view was read, the head there, and who listens."""

    __slots__ = ("head", "last", "sessions")

    def __init__(self, last: int) -> None:
        self.last = last
        self.head = b""  # empty while it isn't known
        self.sessions: set[Session] = set()

    def take(self, page: Page) -> int:
        """Hand the next entries of every viewer to its sessions; how many entries there were."""
        wanted = {(session.viewer, session.proofs) for session in self.sessions}
        texts = {who: [sent(entry, who[1]) for entry in page.views[who[0]]] for who in wanted}
        count = len(next(iter(page.views.values()), ()))
        self._know(page.before)
        self.last += count
        self.head = page.head
        for session in self.sessions:
            for item in texts[session.viewer, session.proofs]:
                session.put(item)
        return count

    def hear(self, ring: Ring) -> None:
        """The same for the one entry that a bell brings: who has no part of it sees what all see."""
        assert ring.public is not None, "only a new entry is brought"
        if self.head and ring.before and ring.before != self.head:
            raise TakenBack(f"entry {self.last} isn't the one that was handed out")
        texts: dict[tuple[Seat | None, bool], Sent] = {}
        whose = [session.viewer if session.viewer in ring.parts else None for session in self.sessions]
        due = list(zip(self.sessions, whose, strict=True))
        for session, viewer in due:
            if (viewer, session.proofs) not in texts:
                texts[viewer, session.proofs] = sent(ring.entry_for(viewer), session.proofs)
        self._know(ring.before)
        self.last, self.head = ring.number, ring.head
        for session, viewer in due:
            session.put(texts[viewer, session.proofs])

    def is_at(self, number: int, head: bytes) -> bool:
        """Whether the game ends with what was handed out last, as far as its head is known."""
        return self.last == number and (not head or self.head in (b"", head))

    def _know(self, head: bytes) -> None:
        """The head after the last entry, once it is known for the first time."""
        if not self.head:
            for session in self.sessions:
                if session.start == self.last:
                    session.starts_at(head)


def sent(entry: ViewEntry, proofs: bool = False) -> Sent:
    """An entry as it goes out: its JSON is made once for all who see the same. With proofs, the very
    bytes go with it that the chain is made of.

    Raises Corrupt: an entry may be msgpack of our form and still hold what no JSON can say."""
    try:
        more = {"proof": write_proof(entry)} if proofs else {}
        text = to_json({"type": "entry", **write_view(entry), **more}).decode()
    except (ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"entry {entry.number} can't be written as JSON: {error}") from None
    return entry.number, entry.answers, text
