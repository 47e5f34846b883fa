"""A fork: a new game that starts from the state of another one (the source game) after some entry.

While the source game goes on, nobody may learn hidden cards of it from a fork: all that the asker can't
place is dealt afresh (determinization.py). When it is over, everything is where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from schemas.commands import CreateGame, ForkGame, SeatPlan
from schemas.errors import CorruptDataError
from schemas.events import Event, GameEnded, GameForked
from schemas.field_types import HIDDEN, Seat
from schemas.game_options import FORK_SCHEMA, Fork
from schemas.refusals import CommandRefusedError, require
from schemas.stored.codec import unpack_entry
from schemas.stored.rows import event_to_row, row_to_event
from schemas.trains.boards.form import TicketForm
from schemas.trains.events import (
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    HandLaid,
    MomentLaid,
    PositionLaid,
    TicketsLaid,
)
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from services.referee.games.appliers import fold_events
from services.referee.games.play_off import seat_plan_of
from services.referee.games.shuffle import in_canonical_order, shuffled
from services.referee.games.state import EventStream, GameState, SeatState, ShuffleFunction
from services.referee.games.trains import board as boards
from services.referee.games.trains.determinization import ViewerKnowledge, determinize
from services.referee.games.trains.setup.position import FIRST_POSITION_EPOCH, stations_given
from services.referee.games.trains.train_state import TrainGame


def fork_command(
    log: Sequence[bytes], command: ForkGame, seed: str, names: Mapping[str, str] | None = None
) -> CreateGame:
    """The command that creates the fork with this seed. `log` is the source game's, from its first entry; `names` are
    those of its players by commitment, who take them along.

    Raises CommandRefusedError (GAME-6) if no game can go on from the entry `command.at`."""
    is_over = any(isinstance(event, GameEnded) for event in unpack_entry(log[-1]).events)
    source = ForkSource(names)
    source.apply(log[0])
    access = source.state.access
    # Whatever the asker knows: everybody who may watch the fork sees the state that it begins with.
    visible = access.visible_length(len(log), is_over=is_over)
    shown = "has" if visible == len(log) else "shows everybody"
    require(command.at <= visible, "GAME-6", f"at: game {command.of} {shown} {visible} entries")
    for data in log[1 : command.at]:
        source.apply(data)
    return source.build_command(command, seed, is_over=is_over)


def set_up_fork(fork: Fork) -> EventStream:
    """The events that set up a fork in a game just created.

    Raises CommandRefusedError (GAME-6) before the first event, if `fork.facts` can't be read."""
    try:
        events = [row_to_event(row) for row in fork.facts]
    except CorruptDataError as error:
        raise CommandRefusedError("GAME-6", f"fork.facts: {error}") from None
    for event in events:
        require(event.lays, "GAME-6", f"fork.facts: {event.type} lays nothing")
    yield GameForked(fork.of, fork.at, fork.asker, fork.afresh)
    yield from events


# -- the source game -------------------------------------------------------------------------


class ForkSource:
    """The source game up to an entry: its state, and what each viewer knows of the hidden cards."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.state: TrainGame = GameState(names)
        self.knowledge: dict[Seat | None, ViewerKnowledge] = {None: ViewerKnowledge(None)}

    def apply(self, data: bytes) -> None:
        """Fold the next entry of the log, as stored."""
        entry = unpack_entry(data)
        fold_events(self.state, entry.at, entry.events)
        for seat in range(len(self.state.seats)):
            self.knowledge.setdefault(seat, ViewerKnowledge(seat))
        for viewer_knowledge in self.knowledge.values():
            for event in entry.events:
                viewer_knowledge.apply(event)

    def build_command(self, command: ForkGame, seed: str, *, is_over: bool) -> CreateGame:
        """The command that creates the fork from here. `is_over`: the source game has ended by now.

        Raises CommandRefusedError (GAME-6) if the game hadn't started here, had ended, or lacks the asker."""
        state = self.state
        require(state.started, "GAME-6", f"at: game {command.of} hadn't started at entry {command.at}")
        require(
            not state.result,
            "GAME-6",
            f"at: game {command.of} was over at entry {command.at}; name one before",
        )
        require(
            command.asker in self.knowledge, "GAME-6", f"asker: game {command.of} has no seat {command.asker}"
        )
        asker = None if is_over else command.asker
        if not is_over:
            state = determinize(state, self.knowledge[asker], _fork_shuffle(seed))
        fork = {
            "of": command.of,
            "at": command.at,
            "asker": asker,
            "afresh": not is_over,
            "rules": state.ruleset.version,
            "facts": tuple(event_to_row(event) for event in state_as_events(state, self.knowledge)),
        }
        return CreateGame(
            tuple(_fork_seat_plan(seat_state, seat == asker) for seat, seat_state in enumerate(state.seats)),
            ruleset=state.ruleset.name,
            board=boards.board_reference(state.own.board),
            options=RULE_OPTIONS_SCHEMA.write(state.rule_options),
            fork=FORK_SCHEMA.read(fork),  # normalised as when it is read from the log
            **state.access.of_fork().fields(),
        )


def _fork_shuffle(seed: str) -> ShuffleFunction:
    """The shuffle of a fresh deal: by the fork's own seed, with a new epoch for each call."""
    shuffle_epochs = iter(range(FIRST_POSITION_EPOCH, 2 * FIRST_POSITION_EPOCH))
    return lambda row: shuffled(row, seed, next(shuffle_epochs))


def _fork_seat_plan(seat_state: SeatState, is_asker: bool) -> SeatPlan:
    """A bot stays. A person's seat is free, unless it has left the game, or it is the asker's: what that
    seat knows is in the fork, so nobody else may take it."""
    if seat_state.policy or seat_state.exit_reason is not None or is_asker:
        return seat_plan_of(seat_state)
    return SeatPlan()


# -- the state as events ----------------------------------------------------------------------


def state_as_events(state: TrainGame, knowledge: Mapping[Seat | None, ViewerKnowledge]) -> Iterator[Event]:
    """The whole state as events. `knowledge` says by viewer which hidden cards that viewer knows, so that
    each still knows them in the fork."""
    known_hands = [knowledge[None].hand(seat) for seat in range(len(state.seats))]
    yield _position_event(state)
    table = state.own
    yield DeckLaid(tuple(reversed(table.deck)))
    for seat, seat_state in enumerate(state.seats):
        hidden_cards = Counter({card: count for card, count in seat_state.own.hand.items() if card and count})
        hidden_cards.subtract(known_hands[seat])
        yield HandLaid(seat, tuple(in_canonical_order(hidden_cards.items())), tuple(seat_state.own.tickets))
    for deck, tickets in table.ticket_decks.items():
        yield TicketsLaid(deck, tuple(reversed(tickets)))
    yield _turn_state_event(state, known_hands)
    for seat, seat_state in enumerate(state.seats):
        if seat_state.own.offer or seat_state.own.requested_mix is not None:
            yield ChoiceLaid(
                seat,
                tuple(seat_state.own.offer),
                seat_state.own.min_keep,
                seat_state.own.requested_mix is not None,
                seat_state.own.requested_mix,
            )
    for seat in range(len(state.seats)):
        for deck, known_tickets in knowledge[seat].decks.items():
            if any(known_tickets):
                ticket_pairs = zip(known_tickets, table.ticket_decks[deck], strict=True)
                yield DeckKnown(
                    seat,
                    deck,
                    tuple(ticket if known_ticket else HIDDEN for known_ticket, ticket in ticket_pairs)[::-1],
                )


def _position_event(state: TrainGame) -> PositionLaid:
    seat_states = state.seats
    table = state.own
    return PositionLaid(
        turn=state.turn_order[0] if state.turn is None else state.turn,
        market=tuple(table.market),
        discards={str(card): count for card, count in table.discards.items() if count},
        owners=dict(table.route_owners),
        cars=tuple(seat_state.own.cars for seat_state in seat_states),
        points=tuple(seat_state.own.points for seat_state in seat_states),
        stations=stations_given(state),
        passengers=dict(table.passenger_owners),
        tokens=dict(table.tokens),
        merchandise=tuple(seat_state.own.merchandise for seat_state in seat_states),
        tickets=_extra_tickets(state),
    )


def _extra_tickets(state: TrainGame) -> tuple[TicketForm, ...]:
    """Tickets that the board doesn't have: the source game itself started from a position."""
    board = boards.as_played(boards.build_board(state.own.board.form), state.rule_options)
    extra_tickets = (ticket for ticket in state.own.board.tickets.values() if ticket.id not in board.tickets)
    return tuple(
        TicketForm(ticket.id, (ticket.a, ticket.b), ticket.points, ticket.deck) for ticket in extra_tickets
    )


def _turn_state_event(state: TrainGame, known_hands: Sequence[Counter[str]]) -> MomentLaid:
    table = state.own
    seat_states, tunnel = state.seats, table.tunnel
    return MomentLaid(
        order=state.turn_order,
        turn=state.turn,
        awaits=tuple(
            (seat, choice, _remaining_ms(state, seat)) for seat, choice in state.pending_choices.items()
        ),
        tunnel=None if tunnel is None else (tunnel.route, tunnel.cards, tunnel.revealed, tunnel.extra),
        ending=table.in_last_turns,
        last=tuple(sorted(table.seats_with_last_turn)),
        passed=tuple(sorted(table.seats_passed)),
        chosen=tuple(seat_state.own.start_tickets_chosen for seat_state in seat_states),
        gone=tuple(seat_state.exit_reason for seat_state in seat_states),
        clocks=tuple(seat_state.clock_ms for seat_state in seat_states),
        passengers=tuple(seat_state.own.passengers_left for seat_state in seat_states),
        shown=tuple({card: count for card, count in hand.items() if count} for hand in known_hands),
    )


def _remaining_ms(state: TrainGame, seat: Seat) -> int | None:
    deadline_ms = state.seats[seat].deadline_ms
    return None if deadline_ms is None else deadline_ms - state.at_ms
