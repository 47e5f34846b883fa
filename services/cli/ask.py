"""`ledgerline ask`: what the referee says to these commands on this table, for disputes and puzzles.

The table is that of a game which starts from the position, so the verdicts come from the very
code that judges every game. No time passes while a question is answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from schemas.boards.form import BOARD_SCHEMA, BoardForm
from schemas.boards.place_names import replace_city_names
from schemas.commands import (
    Command,
    CommandEnvelope,
    CreateGame,
    SeatPlan,
    write_command,
)
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, Event, SeatScore, SeedRevealed, write_event
from schemas.field_types import Seat
from schemas.position_queries import (
    POSITION_QUERY_SCHEMA,
    SEAT_COUNTED_SCHEMA,
    InvalidCommand,
    PositionQuery,
    SeatCounted,
    StationCounted,
    TicketCounted,
)
from schemas.positions import Position
from services.documents.board_files import read_board_file, read_board_text
from services.documents.reader import read_document, read_text
from services.referee.rules import GameState, UnloggedRejectionError, decide_envelope, legal, score
from services.referee.rules.board import board_names
from services.referee.rules.position_game import QUESTION_GAME_ID, start_from_position

MAX_BYTES: Final = 262_144
MAX_ERROR_LENGTH: Final = 400  # of what is said about a bad question
DEFAULT_SEED: Final = "ledgerline ask"  # the same question has the same answer
DEFAULT_OPTIONS: Final = {
    "refusals_kept": 1000
}  # a question isn't a flood: every command gets its own verdict


def answer_file(source: str) -> dict[str, Any]:
    """The answer to the question in this file (`-` is standard input).

    Raises Malformed in one line, naming the entry that is wrong."""
    try:
        text = _read_source(source)
        return answer_query(read_document(text), Path() if source == "-" else Path(source).parent)
    except InvalidInputError as error:
        raise InvalidInputError("", _in_one_line(str(error)), error.rule) from None


def answer_query(document: object, folder: Path) -> dict[str, Any]:
    """The answer to a question as JSON spells it. Board files are looked for from the folder.

    Raises Malformed, naming the entry that is wrong."""
    if not isinstance(document, dict):
        raise InvalidInputError("", "a question is an object; docs/ask.md tells its fields")
    query = POSITION_QUERY_SCHEMA.read(_normalize_query(document))
    state = build_state(query, folder)
    result: dict[str, Any] = {
        "verdicts": [
            verdict_json(state, seat_command.seat, seat_command.command) for seat_command in query.commands
        ]
    }
    if query.legal:
        result["legal"] = [
            {"seat": seat, **write_command(command)}
            for seat in sorted(state.pending_choices)
            for command in legal(state, seat)
        ]
    if query.score:
        scores = state.result.scores if state.result else score(state)
        result["score"] = [
            SEAT_COUNTED_SCHEMA.write(score_breakdown(state, seat_score)) for seat_score in scores
        ]
    return result


# -- the table -------------------------------------------------------------------------


def build_state(query: PositionQuery, folder: Path) -> GameState:
    """The table that the question is about, its first turn begun. Raises Malformed."""
    board = _read_board(query.board, folder)
    command = CreateGame(
        seats=(SeatPlan(),) * query.seats,
        ruleset=query.ruleset,
        board=BOARD_SCHEMA.write(board) if isinstance(board, BoardForm) else board,
        seed=query.seed or DEFAULT_SEED,
        options={**DEFAULT_OPTIONS, **(query.options or {})},
        position=query.position or Position(),
    )
    try:
        return start_from_position(command)
    except UnloggedRejectionError as rejection:
        raise InvalidInputError("", rejection.reason) from None


def _read_board(board: str | Mapping[str, Any] | None, folder: Path) -> BoardForm | str | None:
    """A board written in place, or from a file; or its name, or None, for the rules to look up."""
    text = board if isinstance(board, str | None) else json.dumps(board)
    if text is None or text in board_names():
        return text
    if text.lstrip().startswith(("<", "{")):
        try:
            return read_board_text(text, "board")
        except InvalidInputError as error:
            raise InvalidInputError("board", str(error), error.rule) from None
    return read_board_file(folder / text) if "/" in text or "." in text else text


# -- verdicts --------------------------------------------------------------------------


def verdict_json(state: GameState, seat: Seat, command: Command | InvalidCommand) -> dict[str, Any]:
    """What the referee says to the command. The table goes on from there."""
    if isinstance(command, InvalidCommand):
        return {"accepted": False, "rule": command.rule, "why": command.why}
    try:
        events = _judge_command(state, seat, command)
    except UnloggedRejectionError as rejection:
        return {"accepted": False, "rule": rejection.rule, "why": rejection.reason}
    first = events[0]
    if not isinstance(first, CommandRefused):
        return {"accepted": True, "events": _events_json(events)}
    refused_json = {"accepted": False, "rule": first.rule, "why": first.why}
    further_events = _events_json(events[1:])  # a strict table removes the seat
    return {**refused_json, "events": further_events} if further_events else refused_json


def _events_json(events: Sequence[Event]) -> list[dict[str, object]]:
    """What came of a command; nobody asks for the seed of a question."""
    return [write_event(event) for event in events if not isinstance(event, SeedRevealed)]


def _judge_command(state: GameState, seat: Seat | None, command: Command) -> tuple[Event, ...]:
    return decide_envelope(state, CommandEnvelope("ask", QUESTION_GAME_ID, seat, command), 0, "")


# -- scores ----------------------------------------------------------------------------


def score_breakdown(state: GameState, seat_score: SeatScore) -> SeatCounted:
    """One seat's score, its tickets and stations told by their cities."""
    seat_state = state.seats[seat_score.seat]
    lent = zip(seat_state.stations.items(), seat_score.lent, strict=True)
    return SeatCounted(
        seat=seat_score.seat,
        routes=seat_score.routes,
        tickets=tuple(_count_tickets(state, seat_score)),
        ticket_points=seat_score.tickets,
        longest=seat_score.longest,
        longest_bonus=seat_score.bonus,
        stations=tuple(StationCounted(city, neighbour, route) for (city, neighbour), route in lent),
        station_points=seat_score.stations,
        merchandise=seat_score.merchandise,
        most_tickets_bonus=seat_score.most,
        total=seat_score.total,
        place=seat_score.place,
    )


def _count_tickets(state: GameState, seat_score: SeatScore) -> Iterator[TicketCounted]:
    """In the order in which the seat got them."""
    for ticket_id in state.seats[seat_score.seat].tickets:
        if ticket_id is not None:
            ticket = state.board.tickets[ticket_id]
            yield TicketCounted((ticket.a, ticket.b), ticket.points, ticket_id in seat_score.made)


# -- reading ---------------------------------------------------------------------------


def _read_source(source: str) -> str:
    try:
        return read_text(None if source == "-" else Path(source), MAX_BYTES)
    except InvalidInputError as error:
        raise InvalidInputError(source, error.reason, error.rule) from None


def _normalize_query(document: dict[str, Any]) -> object:
    """The question with ids for names, without the fields that hold null: YAML spells nothing like that."""
    query = {field: told for field, told in document.items() if told is not None}
    if isinstance(position := query.get("position"), dict):
        query["position"] = {field: told for field, told in position.items() if told is not None}
    return replace_city_names(query)


def _in_one_line(text: str) -> str:
    """Nothing of the question can break the line, move the cursor, or fill the screen."""
    shown = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return shown if len(shown) <= MAX_ERROR_LENGTH else f"{shown[: MAX_ERROR_LENGTH - 4]} ..."
