"""`ledgerline ask`: the referee's verdicts on commands in a position, for disputes and puzzles.

A game is started from the position, so the verdicts come from the code that judges every game.
No time passes while a query is answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NotRequired, TypedDict

import typer

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, write_command
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, Event, SeedRevealed, write_event
from schemas.field_types import Seat, is_json_value
from schemas.trains.boards.board_ids import BoardIds, replace_names
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.commands import BuildStation, ClaimRoute, MovePassenger
from schemas.trains.events import TrainScore
from schemas.trains.positions import (
    POSITION_QUERY_SCHEMA,
    POSITION_SCHEMA,
    SEAT_COUNTED_SCHEMA,
    InvalidCommand,
    Position,
    PositionQuery,
    SeatCommand,
    SeatCounted,
    StationCounted,
    TicketCounted,
)
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from services.documents import read_document, read_text
from services.referee.games import RULESETS, UnloggedRejectionError, decide_envelope, legal
from services.referee.games.trains.board import Board, board_ids, board_names, board_reference, load_board
from services.referee.games.trains.scoring import score, train_scores
from services.referee.games.trains.setup.opening import resolve_rule_options
from services.referee.games.trains.setup.position import (
    QUESTION_GAME_ID,
    start_from_position,
    state_as_position,
)
from services.referee.games.trains.train_state import TrainGame
from services.text.formatting import in_one_line
from services.trains.board_files import read_board_file, read_board_text

MAX_BYTES: Final = 262_144
DEFAULT_SEED: Final = "ledgerline ask"  # so that the same query has the same answer
# Every command gets its own verdict; in a game only so many refusals of a turn are logged.
DEFAULT_OPTIONS: Final = {"refusals_kept": 1000}
MAX_SUGGESTIONS: Final = 20  # in one answer: to look for an id on a large board takes milliseconds

app = typer.Typer()


class QueryAnswer(TypedDict):
    """The answer to a query, as JSON: docs/reference/ask.md."""

    verdicts: list[dict[str, object]]
    legal: NotRequired[list[dict[str, object]]]
    score: NotRequired[list[dict[str, object]]]
    table: NotRequired[dict[str, object]]


@app.command()
def ask(
    file: Annotated[str, typer.Argument(help="The question in JSON or YAML; - is standard input.")],
) -> None:
    """Print the referee's verdicts on commands in a position, as JSON: docs/reference/ask.md has the form."""
    print(json.dumps(answer_file(file), indent=2))


def answer_file(source: str) -> QueryAnswer:
    """The answer to the query in this file (`-` is standard input).

    Raises InvalidInputError in one printable line, naming the entry that is wrong."""
    try:
        text = read_text(None if source == "-" else Path(source), MAX_BYTES, source)
        return answer_query(read_document(text), Path() if source == "-" else Path(source).parent)
    except InvalidInputError as error:
        raise InvalidInputError("", in_one_line(str(error)), error.rule) from None


def answer_query(document: object, folder: Path) -> QueryAnswer:
    """The answer to a query, both as JSON values. Paths of board files are relative to the folder.

    Raises InvalidInputError, naming the entry that is wrong."""
    if not isinstance(document, dict):
        raise InvalidInputError("", "a question is an object; docs/reference/ask.md has its fields")
    query = POSITION_QUERY_SCHEMA.read(_normalize_query(document, folder))
    state = build_state(query, folder)
    result: QueryAnswer = {"verdicts": answer_commands(state, query.commands)}
    if query.legal:
        result["legal"] = [
            {"seat": seat, **write_command(command)}
            for seat in sorted(state.pending_choices)
            for command in legal(state, seat)
        ]
    if query.score:
        scores = train_scores(state.result) if state.result else score(state)
        result["score"] = [
            SEAT_COUNTED_SCHEMA.write(_score_breakdown(state, seat_score)) for seat_score in scores
        ]
    if query.table:
        result["table"] = position_json(state)
    return result


# -- the position ----------------------------------------------------------------------


def build_state(query: PositionQuery, folder: Path) -> TrainGame:
    """The state of a game that starts from the query's position, its first turn begun.

    Raises InvalidInputError."""
    board = read_question_board(query.board, folder)
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


# -- verdicts --------------------------------------------------------------------------


def answer_commands(state: TrainGame, commands: Sequence[SeatCommand]) -> list[dict[str, object]]:
    """The verdicts on commands one after the other, as JSON; with ids to suggest for those that aren't there."""
    verdicts, suggestions = [], 0
    for sent in commands:
        command, verdict = sent.command, verdict_json(state, sent.seat, sent.command)
        if not verdict["accepted"] and suggestions < MAX_SUGGESTIONS:
            ids = [] if isinstance(command, InvalidCommand) else ids_meant(command, state.own.board)
            if ids:
                verdict["did_you_mean"], suggestions = ids, suggestions + 1
        verdicts.append(verdict)
    return verdicts


def verdict_json(state: TrainGame, seat: Seat, command: Command | InvalidCommand) -> dict[str, object]:
    """The verdict on a command, as JSON. The state changes by what it accepts."""
    if isinstance(command, InvalidCommand):
        return {"accepted": False, "rule": command.rule, "why": command.why}
    try:
        events = decide_envelope(state, CommandEnvelope("ask", QUESTION_GAME_ID, seat, command), 0, "")
    except UnloggedRejectionError as rejection:
        return {"accepted": False, "rule": rejection.rule, "why": rejection.reason}
    first = events[0]
    if not isinstance(first, CommandRefused):
        return {"accepted": True, "events": _events_json(events)}
    refused_json = {"accepted": False, "rule": first.rule, "why": first.why}
    further_events = _events_json(events[1:])  # with the option `strict` a refusal removes the seat
    return {**refused_json, "events": further_events} if further_events else refused_json


def _events_json(events: Sequence[Event]) -> list[dict[str, object]]:
    """The events of a command, but for the seed of the query's own game."""
    return [write_event(event) for event in events if not isinstance(event, SeedRevealed)]


# -- reading ---------------------------------------------------------------------------


def _normalize_query(document: dict[str, object], folder: Path) -> object:
    """The query with ids for cities' names, without fields that are null: in YAML an empty field is null."""
    query = {field: value for field, value in document.items() if value is not None}
    if isinstance(position := query.get("position"), dict):
        query["position"] = {field: value for field, value in position.items() if value is not None}
    return replace_names(query, question_ids(query, folder))


def _score_breakdown(state: TrainGame, seat_score: TrainScore) -> SeatCounted:
    """One seat's score, its tickets and stations named by their cities."""
    seat_state = state.seats[seat_score.seat]
    lent = zip(seat_state.own.stations.items(), seat_score.lent, strict=True)
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


def _count_tickets(state: TrainGame, seat_score: TrainScore) -> Iterator[TicketCounted]:
    """In the order in which the seat got them."""
    for ticket_id in state.seats[seat_score.seat].own.tickets:
        if ticket_id is not None:
            ticket = state.own.board.tickets[ticket_id]
            yield TicketCounted((ticket.a, ticket.b), ticket.points, ticket_id in seat_score.made)


DEFAULT_RULESET: Final = "usa"  # of a question that names neither rules nor board


def position_json(state: TrainGame) -> dict[str, object]:
    """The position as JSON, without fields that say nothing."""
    fields = POSITION_SCHEMA.write(state_as_position(state))
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value is not False and value != []
    }


def position_question(state: TrainGame) -> dict[str, object]:
    """The question about this position, with no commands yet: rules, board and options as the game has them."""
    usual = RULE_OPTIONS_SCHEMA.write(resolve_rule_options(RULESETS[state.ruleset.name], state.own.board, {}))
    options = RULE_OPTIONS_SCHEMA.write(state.rule_options)
    return {
        "ruleset": state.ruleset.name,
        "board": board_reference(state.own.board),
        "seats": len(state.seats),
        "options": {name: value for name, value in options.items() if value != usual[name]},
        "position": position_json(state),
        "commands": [],
        "legal": True,
    }


def read_question_board(board: str | Mapping[str, object] | None, folder: Path) -> BoardForm | str | None:
    """A board of the question or of a file; or a name or None, which the rules look up.

    Raises InvalidInputError."""
    text = board if isinstance(board, str | None) else json.dumps(board)
    if text is None or text in board_names():
        return text
    if text.lstrip().startswith(("<", "{")):
        try:
            return read_board_text(text, "board")
        except InvalidInputError as error:
            raise InvalidInputError("board", str(error), error.rule) from None
    return read_board_file(folder / text) if "/" in text or "." in text else text


def question_ids(question: Mapping[str, object], folder: Path) -> BoardIds | None:
    """The ids of the board of a question that isn't checked yet; None where the board can't be read, which is refused
    later, with the reason."""
    board, ruleset = question.get("board"), question.get("ruleset", DEFAULT_RULESET)
    if board is None and isinstance(ruleset, str) and ruleset in RULESETS:
        board = RULESETS[ruleset].default_board
    if not isinstance(board, str | dict) or not is_json_value(board):
        return None
    try:
        form = read_question_board(board, folder)
        return BoardIds(form) if isinstance(form, BoardForm) else board_ids(load_board(str(form)))
    except InvalidInputError:
        return None


def ids_meant(command: Command, board: Board) -> list[str]:
    """Ids of the board to suggest for the first one in a command that the board doesn't have."""
    ids = board_ids(board)
    routes, cities = _named_places(command)
    for route in routes:
        if route not in ids.routes:
            return ids.routes_meant(route)
    for city in cities:
        if city not in ids.cities:
            return ids.cities_meant(city)
    return []


def _named_places(command: Command) -> tuple[list[str], list[str]]:
    """The routes and the cities that a command names."""
    match command:
        case ClaimRoute(route, _, passenger):
            return [route], [passenger] if passenger else []
        case BuildStation(city, _, neighbour):
            return [], [city, neighbour] if neighbour else [city]
        case MovePassenger(city, path):
            return [*path], [city]
        case _:
            return [], []
