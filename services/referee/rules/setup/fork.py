"""A new game where another one stood: the table there, written out as the facts that lay it.

While the other game goes on, nobody may learn from a fork what they don't know there: so all that whoever
asks for it can't place is dealt afresh (see redealing.py). When it is over, everything lies as it lay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemas.boards.form import TicketForm
from schemas.codec import Corrupt, event_row, row_event, unpack_entry
from schemas.commands import CreateGame, ForkGame, SeatPlan
from schemas.events import (
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    Event,
    GameEnded,
    GameForked,
    HandLaid,
    MomentLaid,
    PositionLaid,
    TicketsLaid,
)  # fmt: skip
from schemas.field_types import HIDDEN, Seat
from schemas.forks import FORK, Fork
from schemas.positions import StationGiven
from schemas.refusals import Refused, require
from schemas.rule_options import PARAMETERS
from services.referee.rules import board as boards
from services.referee.rules.determinization import Known, Shuffle, redeal
from services.referee.rules.evolve import fold_events
from services.referee.rules.moves.play_off import board_again, seated_again
from services.referee.rules.ruleset import Facts
from services.referee.rules.setup.position import EPOCHS
from services.referee.rules.shuffle import in_order, shuffled
from services.referee.rules.table import Place, Table

LAYING: Final = (PositionLaid, DeckLaid, HandLaid, TicketsLaid, MomentLaid, ChoiceLaid, DeckKnown)


def creation(log: Sequence[bytes], wish: ForkGame, seed: str) -> CreateGame:
    """The wish for the new game, whose seed this is; the log is the other game's. Raises Refused where
    nothing can go on from there."""
    require(log, "GAME-1", f"there is no game {wish.of}")
    require(wish.at <= len(log), "GAME-6", f"at: game {wish.of} has {len(log)} entries")
    past = Past()
    for data in log[: wish.at]:
        past.follow(data)
    over = any(isinstance(event, GameEnded) for event in unpack_entry(log[-1]).events)
    return past.creation(wish, seed, over=over)


def lay_fork(fork: Fork) -> Facts:
    """The facts that lay a fork, on a table just created. Raises Refused before the first of them."""
    try:
        facts = [row_event(row) for row in fork.facts]
    except Corrupt as error:
        raise Refused("GAME-6", f"fork.facts: {error}") from None
    for fact in facts:
        require(isinstance(fact, LAYING), "GAME-6", f"fork.facts: {fact.type} lays nothing")
    yield GameForked(fork.of, fork.at, fork.asker, fork.afresh)
    yield from facts


# -- the game as it was ----------------------------------------------------------------------


class Past:
    """A game up to an entry: the table, and what everybody could place of what lies face down on it."""

    def __init__(self) -> None:
        self.table = Table()
        self.knowledge: dict[Seat | None, Known] = {None: Known(None)}

    def follow(self, data: bytes) -> None:
        """Take on the next entry of the log."""
        entry = unpack_entry(data)
        fold_events(self.table, entry.at, entry.events)
        for seat in range(len(self.table.places)):
            self.knowledge.setdefault(seat, Known(seat))
        for known in self.knowledge.values():
            for event in entry.events:
                known.follow(event)

    def creation(self, wish: ForkGame, seed: str, *, over: bool) -> CreateGame:
        """The wish for the game that goes on from here. `over`: the other game is, by now."""
        table = self.table
        require(table.started, "GAME-6", f"at: game {wish.of} hadn't started at entry {wish.at}")
        require(not table.over, "GAME-6", f"at: game {wish.of} was over at entry {wish.at}; name one before")
        require(wish.asker in self.knowledge, "GAME-6", f"asker: game {wish.of} has no seat {wish.asker}")
        asker = None if over else wish.asker
        if not over:
            table = redeal(table, self.knowledge[asker], _by(seed))
        fork = {
            "of": wish.of,
            "at": wish.at,
            "asker": asker,
            "afresh": not over,
            "rules": table.rules.version,
            "facts": tuple(event_row(fact) for fact in laying(table, self.knowledge)),
        }
        return CreateGame(
            tuple(_plan(place, seat == asker) for seat, place in enumerate(table.places)),
            ruleset=table.rules.name,
            board=board_again(table.board),
            options=PARAMETERS.write(table.figures),
            fork=FORK.read(fork),  # as it comes out of the log again
        )


def _by(seed: str) -> Shuffle:
    """All the chance of a deal afresh: the new game's own seed, and the count of what was shuffled."""
    epochs = iter(range(EPOCHS, 2 * EPOCHS))
    return lambda row: shuffled(row, seed, next(epochs))


def _plan(place: Place, asks: bool) -> SeatPlan:
    """A bot stays. A person's seat is free, unless nobody need play it, or it is whose knowledge the
    fork shows: that is for nobody else to take."""
    if place.policy or place.gone is not None or asks:
        return seated_again(place)
    return SeatPlan()


# -- the facts that lay a table ----------------------------------------------------------------


def laying(table: Table, knowledge: Mapping[Seat | None, Known]) -> Iterator[Event]:
    """Everything on a table, face down what lies so; `knowledge` is what each viewer can place of that."""
    shown = [knowledge[None].hand(seat) for seat in range(len(table.places))]
    yield _position(table)
    yield DeckLaid(tuple(reversed(table.deck)))
    for seat, place in enumerate(table.places):
        hidden = Counter({card: count for card, count in place.hand.items() if card and count})
        hidden.subtract(shown[seat])
        yield HandLaid(seat, tuple(in_order(hidden.items())), tuple(place.tickets))
    for deck, row in table.ticket_decks.items():
        yield TicketsLaid(deck, tuple(reversed(row)))
    yield _moment(table, shown)
    for seat, place in enumerate(table.places):
        if place.offer or place.mix is not None:
            yield ChoiceLaid(seat, tuple(place.offer), place.least, place.mix is not None, place.mix)
    for seat in range(len(table.places)):
        for deck, seen in knowledge[seat].decks.items():
            if any(seen):
                both = zip(seen, table.ticket_decks[deck], strict=True)
                yield DeckKnown(seat, deck, tuple(there if mark else HIDDEN for mark, there in both)[::-1])


def _position(table: Table) -> PositionLaid:
    places = table.places
    return PositionLaid(
        turn=table.order[0] if table.turn is None else table.turn,
        market=tuple(table.market),
        discards={str(card): count for card, count in table.discards.items() if count},
        owners=dict(table.owners),
        cars=tuple(place.cars for place in places),
        points=tuple(place.points for place in places),
        stations={
            city: StationGiven(seat, places[seat].stations[city]) for city, seat in table.stations.items()
        },
        passengers=dict(table.passengers),
        tokens=dict(table.tokens),
        merchandise=tuple(place.merchandise for place in places),
        tickets=_new_tickets(table),
    )


def _new_tickets(table: Table) -> tuple[TicketForm, ...]:
    """Those that the board doesn't have: the game itself started from a position."""
    board = boards.build(table.board.form)
    if table.figures.pair_tickets:
        board = boards.with_pairs(board, table.figures.pair_tickets)
    new = (ticket for ticket in table.board.tickets.values() if ticket.id not in board.tickets)
    return tuple(TicketForm(ticket.id, (ticket.a, ticket.b), ticket.points, ticket.deck) for ticket in new)


def _moment(table: Table, shown: Sequence[Counter[str]]) -> MomentLaid:
    places, tunnel = table.places, table.tunnel
    return MomentLaid(
        order=table.order,
        turn=table.turn,
        awaits=tuple((seat, choice, _left_ms(table, seat)) for seat, choice in table.awaits.items()),
        tunnel=None if tunnel is None else (tunnel.route, tunnel.cards, tunnel.revealed, tunnel.extra),
        ending=table.ending,
        last=tuple(sorted(table.last)),
        passed=tuple(sorted(table.passed)),
        chosen=tuple(place.chosen for place in places),
        gone=tuple(place.gone for place in places),
        clocks=tuple(place.clock_ms for place in places),
        passengers=tuple(place.passengers for place in places),
        shown=tuple({card: count for card, count in hand.items() if count} for hand in shown),
    )


def _left_ms(table: Table, seat: Seat) -> int | None:
    until = table.places[seat].until
    return None if until is None else until - table.at
