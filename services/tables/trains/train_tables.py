"""A folded train game as the gateway's answer: its table, its scores, its tickets with the ways that are open.

The built-in boards, with the rulesets that each can be played with; and drawings of boards, each made once, and kept.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from functools import cache, lru_cache, partial
from hashlib import sha256
from threading import Lock
from typing import Final

from schemas.commands import CreateGame, SeatPlan
from schemas.contract import Json
from schemas.errors import InvalidInputError
from schemas.events import Event
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.events import RouteClaimed, TrainScore
from services.bots.trains.ticket_paths import NO_PATH, TicketPath, shortest_paths
from services.gateway.models.trains import (
    BoardDrawing,
    ListedBoard,
    SeatResult,
    SeatView,
    TableState,
    TicketState,
    TunnelState,
)
from services.referee.games import RULESETS
from services.referee.games.state import Ruleset
from services.referee.games.trains.board import (
    Board,
    Ticket,
    board_names,
    build_board,
    is_built_in,
    load_board,
)
from services.referee.games.trains.scoring import routes_of_longest, train_scores
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.runtime.executors import FairThreadPool
from services.runtime.killable_processes import KillableProcess
from services.tables.table_answers import OWN_TABLES, OwnTable, seat_fields
from services.tables.trains.board_drawing import board_svg, draw_board

MADE: Final = TicketPath(0, ())


def _train_table(state: TrainGame, viewer: Seat | None, fields: Json) -> TableState:
    own = None if viewer is None else state.seats[viewer]
    table, result = state.own, state.result
    tunnel = table.tunnel
    return TableState(
        **fields,
        board=table.board.id,
        last_turns=table.in_last_turns,
        seats=[_seat_view(state, seat) for seat in range(len(state.seats))],
        market=list(table.market),
        deck=len(table.deck),
        discards=sum(table.discards.values()),
        ticket_decks={name: len(deck) for name, deck in table.ticket_decks.items()},
        routes=dict(table.route_owners),
        closed=_closed_routes(state),
        stations=dict(table.station_owners),
        passengers=dict(table.passenger_owners),
        tokens={city: list(stack) for city, stack in table.tokens.items()},
        tunnel=tunnel
        and TunnelState(
            route=tunnel.route, cards=dict(tunnel.cards), revealed=list(tunnel.revealed), extra=tunnel.extra
        ),
        hand={card: n for card, n in own.own.hand.items() if n and card is not None} if own else None,
        tickets=_own_tickets(state, viewer),
        offer=ticket_states(state, viewer, own.own.offer) if own else [],
        keep_least=own.own.min_keep if own else 0,
        result=[_seat_result(state, score) for score in train_scores(result)] if result else None,
    )


def _seat_view(state: TrainGame, seat: Seat) -> SeatView:
    own = state.seats[seat].own
    return SeatView(
        **seat_fields(state, seat),
        cars=own.cars,
        cards=own.cards,
        tickets=len(own.tickets),
        points=own.running_score,
        stations_left=len(state.rule_options.station_costs) - len(own.stations),
        passengers_left=own.passengers_left,
    )


def _seat_result(state: TrainGame, score: TrainScore) -> SeatResult:
    tickets = _final_tickets(state, score)
    draws_trail = bool(score.bonus) and is_built_in(
        state.own.board
    )  # on the worst other board: 440 ms a seat
    return SeatResult(
        seat=score.seat,
        place=score.place,
        total=score.total,
        routes=score.routes,
        tickets=score.tickets,
        made=[ticket for ticket in tickets if ticket.made],
        missed=[ticket for ticket in tickets if not ticket.made],
        longest=score.longest,
        bonus=score.bonus,
        trail=routes_of_longest(state, state.seats[score.seat]) if draws_trail else [],
        most=score.most,
        stations=score.stations,
        merchandise=score.merchandise,
    )


def _closed_routes(state: TrainGame) -> list[str]:
    """Routes that nobody can claim any more, though nobody owns them (DOUBLE-2)."""
    if not state.started:
        return []
    table = state.own
    open_routes = {name for routes in table.open_routes.values() for name in routes}
    return [name for name in table.board.routes if name not in open_routes and name not in table.route_owners]


def ticket_states(state: TrainGame, seat: Seat | None, tickets: list[str | None]) -> list[TicketState]:
    """The tickets that the viewer knows, by the routes of a seat: whether they are made, else the shortest open way."""
    known = [state.own.board.tickets[ticket] for ticket in tickets if ticket is not None]
    paths = [None] * len(known) if seat is None else shortest_paths(state, seat, known)
    return [_ticket_state(ticket, path) for ticket, path in zip(known, paths, strict=True)]


def _own_tickets(state: TrainGame, seat: Seat | None) -> list[TicketState]:
    """The tickets of the viewer's seat as they stand; once the game is over, as they were counted."""
    scores = train_scores(state.result) if state.result else ()
    for score in scores:
        if score.seat == seat:
            return _final_tickets(state, score)
    return [] if seat is None else ticket_states(state, seat, state.seats[seat].own.tickets)


def _final_tickets(state: TrainGame, score: TrainScore) -> list[TicketState]:
    """A seat's tickets of a game that is over, those made first, with what its stations borrow: no way is open any more."""
    counted = [(ticket, MADE) for ticket in score.made] + [(ticket, NO_PATH) for ticket in score.missed]
    return [_ticket_state(state.own.board.tickets[ticket], path) for ticket, path in counted]


def _ticket_state(ticket: Ticket, path: TicketPath | None) -> TicketState:
    return TicketState(
        id=ticket.id,
        a=ticket.a,
        b=ticket.b,
        points=ticket.points,
        deck=ticket.deck,
        made=path is not None and path.cars == 0,
        way=list(path.routes) if path else [],
        open=path is not None and path is not NO_PATH,
    )


def _claimed_routes(events: Sequence[Event]) -> list[str]:
    return [event.route for event in events if isinstance(event, RouteClaimed)]


OWN_TABLES[TrainState] = OwnTable(_train_table, _claimed_routes)


def find_drawing(name: str) -> BoardDrawing | None:
    """The drawing of a board; None if it can't be read, or there is none of that name."""
    try:
        return draw_board(load_board(name))
    except InvalidInputError:
        return None


@cache
def draw_picture(name: str) -> str:
    """A built-in board as SVG. Raises InvalidInputError: it can't be read."""
    return board_svg(draw_board(load_board(name)))


@cache
def list_boards() -> tuple[ListedBoard, ...]:
    """The boards that can be read."""
    boards = []
    for name in board_names():
        try:
            board = load_board(name)
        except InvalidInputError:
            continue
        boards.append(
            ListedBoard(
                id=board.id,
                title=board.title,
                ruleset=board.default_ruleset,
                rulesets=[ruleset.name for ruleset in RULESETS.values() if _is_playable(ruleset, board)],
                cities=len(board.cities),
                routes=len(board.routes),
                tickets=len(board.tickets),
            )
        )
    return tuple(boards)


def _is_playable(ruleset: Ruleset, board: Board) -> bool:
    """Whether a game on this board with these rules could be created, all else as usual."""
    seats = (SeatPlan(),) * ruleset.rule_options.seats_least
    try:
        ruleset.open_game(ruleset, CreateGame(seats, ruleset.name, board.id))
    except CommandRefusedError:
        return False
    return True


LIMIT_S: Final = 5.0  # for one drawing, which takes 0.2 s at most, on a busy machine
MAX_KEPT_BYTES: Final = 16_777_216  # of all drawings; the largest has 1.2 MB


class KeptDrawings:
    """Drawings as the JSON of the API's answer, by the digests of the boards' forms. To be closed."""

    def __init__(self) -> None:
        self._process = KillableProcess[bytes](__name__)
        self._threads = FairThreadPool("drawings", 1)
        self._drawings: OrderedDict[bytes, Future[bytes]] = OrderedDict()
        self._kept_bytes, self._lock = 0, Lock()

    def close(self) -> None:
        """End the process."""
        self._threads.shutdown()
        self._process.close()

    def find(self, board: Board, asker: str) -> Future[bytes]:
        """The drawing of a board, on any thread; it may not be there yet. Who asks for many waits for the others.

        The future raises NoAnswerError where the board isn't drawn in time."""
        text = _form_text(board)
        digest = sha256(text).digest()
        with self._lock:
            if (kept := self._drawings.get(digest)) is not None:
                self._drawings.move_to_end(digest)
                return kept
            draw = partial(self._draw, board if is_built_in(board) else None, text)
            drawing = self._drawings[digest] = self._threads.submit(asker, draw)
        drawing.add_done_callback(lambda _: self._keep(digest, drawing))
        return drawing

    def _draw(self, built_in: Board | None, text: bytes) -> bytes:
        if built_in is not None:
            return draw_board(built_in).model_dump_json().encode()
        return self._process.ask(partial(draw_form, text), LIMIT_S)

    def _keep(self, digest: bytes, drawing: Future[bytes]) -> None:
        """Keep a drawing that has ended, unless it failed; the least used go."""
        with self._lock:
            if drawing.cancelled() or drawing.exception() is not None:
                self._drawings.pop(digest, None)
                return
            self._kept_bytes += len(drawing.result())
            for other in list(self._drawings):
                if self._kept_bytes <= MAX_KEPT_BYTES:
                    break
                if self._drawings[other].done():
                    self._kept_bytes -= len(self._drawings.pop(other).result())


def draw_form(text: bytes) -> bytes:
    """The drawing of a board by the JSON of its form."""
    return draw_board(build_board(BOARD_SCHEMA.read_json(text))).model_dump_json().encode()


@lru_cache(maxsize=16)
def _form_text(board: Board) -> bytes:
    """The JSON of a board's form, the same for equal ones."""
    return json.dumps(BOARD_SCHEMA.write(board.form), separators=(",", ":")).encode()
