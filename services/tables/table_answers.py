"""A folded state as the gateway's answers: the table, tickets, lists of games, suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import write_command
from schemas.contract import Json
from schemas.events import Score, SeatScore
from schemas.field_types import Seat
from schemas.trains.events import TrainScore
from services.bots.searching.candidate_halving import CandidateValue
from services.bots.trains.ticket_paths import NO_PATH, TicketPath, shortest_paths
from services.gateway.models.table_models import (
    ListedGame,
    ListedSeat,
    Move,
    PartsResult,
    PartsTable,
    PartState,
    SeatResult,
    SeatState,
    SeatView,
    SuggestedCommand,
    Suggestions,
    TableState,
    TicketState,
    TunnelState,
    UndoState,
)
from services.referee.games.state import GameState
from services.referee.games.trains.board import Ticket
from services.referee.games.trains.scoring import train_scores
from services.referee.games.trains.train_state import TrainGame
from services.text.commands import describe_command
from services.text.formatting import pluralize
from services.text.game_summary import game_status

MADE: Final = TicketPath(0, ())


def table_state(
    state: GameState, viewer: Seat | None, number: int, head: bytes, moves: Sequence[Move]
) -> TableState | PartsTable:
    """The table as its viewer sees it after entry `number`: in parts, if its game describes it so."""
    result, undo = state.result, state.undo
    fields: Json = {
        "game": state.game,
        "viewer": "public" if viewer is None else viewer,
        "number": number,
        "head": head.hex() or None,
        "at": state.at_ms,
        "created": state.created_at_ms,
        "age_ms": 0,  # the gateway has a clock
        "status": game_status(state),
        "ruleset": state.ruleset.name,
        "turn": state.turn,
        "free_seats": [seat for seat, seat_state in enumerate(state.seats) if not seat_state.is_seated],
        "order": state.rule_options.order,
        "turn_order": list(state.turn_order),
        "by_invitation": state.access.by_invitation,
        "ended": result.reason if result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "undo": undo and UndoState(seat=undo.seat, waiting=None if undo.waiting is None else [*undo.waiting]),
        "moves": list(moves),
    }
    if state.ruleset.describe is None:
        return _train_table(state, viewer, fields)
    return PartsTable(
        **fields,
        seats=[SeatState(**_seat_fields(state, seat)) for seat in range(len(state.seats))],
        parts=[
            PartState(
                name=part.name,
                seat=part.seat,
                cards=None if part.cards is None else list(part.cards),
                number=part.number,
                text=part.text,
            )
            for part in state.ruleset.describe(state, viewer)
        ],
        drawing=state.ruleset.draw(state, viewer) if state.ruleset.draw else None,
        result=[_parts_result(score) for score in result.scores] if result else None,
    )


def _parts_result(score: Score) -> PartsResult:
    assert isinstance(score, SeatScore), "its game isn't of the trains"
    return PartsResult(seat=score.seat, place=score.place, total=score.total, parts=dict(score.parts))


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


def listed_game(state: GameState, number: int) -> ListedGame:
    """The game as a list shows it."""
    board = state.own.board if state.ruleset.default_board else None
    scores = {score.seat: score for score in state.result.scores} if state.result else {}
    seats = [
        ListedSeat(
            seat=seat,
            name=seat_state.name or None,
            kind=seat_state.kind,  # type: ignore[arg-type]  # one of its two words
            policy=seat_state.policy,
            free=not seat_state.is_seated,
            total=scores[seat].total if scores else None,
            place=scores[seat].place if scores else None,
        )
        for seat, seat_state in enumerate(state.seats)
    ]
    return ListedGame(
        game=state.game,
        status=game_status(state),  # type: ignore[arg-type]  # one of its three words
        ruleset=state.ruleset.name,
        board=board and board.id,
        board_title=board and board.title,
        created=state.created_at_ms,
        number=number,
        seats=seats,
        free=sum(seat.free for seat in seats),
        turn=state.turn,
    )


def _seat_fields(state: GameState, seat: Seat) -> Json:
    seat_state = state.seats[seat]
    return {
        "seat": seat,
        "name": seat_state.name or None,
        "kind": seat_state.kind,
        "policy": seat_state.policy,
        "seated": seat_state.is_seated,
        "choice": state.pending_choices.get(seat),
        "clock_ms": None if state.rule_options.clock_ms is None else seat_state.clock_ms,
        "deadline_ms": seat_state.deadline_ms if seat in state.pending_choices else None,
        "gone": seat_state.exit_reason,
    }


def _seat_view(state: TrainGame, seat: Seat) -> SeatView:
    own = state.seats[seat].own
    return SeatView(
        **_seat_fields(state, seat),
        cars=own.cars,
        cards=own.cards,
        tickets=len(own.tickets),
        points=own.running_score,
        stations_left=len(state.rule_options.station_costs) - len(own.stations),
        passengers_left=own.passengers_left,
    )


def _seat_result(state: TrainGame, score: TrainScore) -> SeatResult:
    tickets = _final_tickets(state, score)
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


# -- suggestions ----------------------------------------------------------------------------


def suggestions(
    state: GameState, seat: Seat, number: int, candidates: Sequence[CandidateValue]
) -> Suggestions:
    """The candidates for a seat's move as an answer, the best first."""
    return Suggestions(
        game=state.game,
        seat=seat,
        number=number,
        commands=[
            SuggestedCommand(
                command=write_command(each.command),
                text=describe_command(state, seat, each.command),
                why=_reason(each, candidates[0]),
                points=_rounded(each.points),
                points_error=_rounded(each.points_error),
                lead=_rounded(each.lead),
                lead_error=_rounded(each.lead_error),
                games=each.rollouts,
            )
            for each in candidates
        ],
    )


def _reason(candidate: CandidateValue, best: CandidateValue) -> str:
    """Why the candidate comes in its place."""
    if candidate.points is None or candidate.lead is None:
        return "What the bot planner would do; nothing else was worth playing out."
    played = pluralize(candidate.rollouts, "game")
    expected = f"You end with about {candidate.points:.0f} points"
    if candidate.lead >= 0:
        expected += f", {candidate.lead:.0f} ahead of the best other seat"
    else:
        expected += f", {-candidate.lead:.0f} behind the best other seat"
    sentences = [f"{expected}: the mean of {played} played out from here."]
    if candidate is not best:
        sentences.append(_comparison(candidate, best))
    elif candidate.is_planners:
        sentences.append("The bot planner would do the same.")
    return " ".join(sentences)


def _comparison(candidate: CandidateValue, best: CandidateValue) -> str:
    assert candidate.lead is not None and best.lead is not None, "both were played out"
    loss = best.lead - candidate.lead
    error = ((candidate.lead_error or 0.0) ** 2 + (best.lead_error or 0.0) ** 2) ** 0.5
    if loss <= 0:
        return "Its lead is larger, but too few games show it."
    surely = "" if loss > 2 * error else ", which may be chance"
    return f"Its lead is {loss:.1f} points smaller than the first's{surely}."


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


# -- tickets --------------------------------------------------------------------------------


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
