"""`ledgerline ask`: what the referee says to these commands on this table, for disputes and puzzles.

The table is that of a game which starts from the position, so the verdicts come from the very
code that judges every game. No time passes while a question is answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from schemas.boards.form import BOARD, BoardForm
from schemas.boards.place_names import with_ids
from schemas.commands import (
    Command,
    CreateGame,
    Letter,
    SeatPlan,
    write_command,
)
from schemas.contract import Malformed
from schemas.events import CommandRefused, Event, SeatScore, SeedRevealed, write_event
from schemas.field_types import Seat
from schemas.position_queries import (
    INQUIRY,
    SEAT_COUNTED,
    Inquiry,
    Misshapen,
    SeatCounted,
    StationCounted,
    TicketCounted,
)
from schemas.positions import Position
from services.documents.board_files import read_board_file, read_board_text
from services.documents.reader import read_document, read_text
from services.referee.rules import NotKept, Table, judge, legal, score
from services.referee.rules.board import names
from services.referee.rules.position_game import GAME, laid_out

BYTES_MOST: Final = 262_144
LETTERS_MOST: Final = 400  # of what is said about a bad question
SEED: Final = "ledgerline ask"  # the same question has the same answer
REFUSALS: Final = {"refusals_kept": 1000}  # a question isn't a flood: every command gets its own verdict


def ask(source: str) -> dict[str, Any]:
    """The answer to the question in this file (`-` is standard input).

    Raises Malformed in one line, naming the entry that is wrong."""
    try:
        text = _text(source)
        return answer(read_document(text), Path() if source == "-" else Path(source).parent)
    except Malformed as error:
        raise Malformed("", _in_one_line(str(error)), error.rule) from None


def answer(question: object, folder: Path) -> dict[str, Any]:
    """The answer to a question as JSON spells it. Board files are looked for from the folder.

    Raises Malformed, naming the entry that is wrong."""
    if not isinstance(question, dict):
        raise Malformed("", "a question is an object; docs/ask.md tells its fields")
    inquiry = INQUIRY.read(_said(question))
    table = laid(inquiry, folder)
    told: dict[str, Any] = {
        "verdicts": [verdict(table, spoken.seat, spoken.command) for spoken in inquiry.commands]
    }
    if inquiry.legal:
        told["legal"] = [
            {"seat": seat, **write_command(command)}
            for seat in sorted(table.awaits)
            for command in legal(table, seat)
        ]
    if inquiry.score:
        scores = table.over.scores if table.over else score(table)
        told["score"] = [SEAT_COUNTED.write(counted(table, own)) for own in scores]
    return told


# -- the table -------------------------------------------------------------------------


def laid(inquiry: Inquiry, folder: Path) -> Table:
    """The table that the question is about, its first turn begun. Raises Malformed."""
    board = _board(inquiry.board, folder)
    creation = CreateGame(
        seats=(SeatPlan(),) * inquiry.seats,
        ruleset=inquiry.ruleset,
        board=BOARD.write(board) if isinstance(board, BoardForm) else board,
        seed=inquiry.seed or SEED,
        options={**REFUSALS, **(inquiry.options or {})},
        position=inquiry.position or Position(),
    )
    try:
        return laid_out(creation)
    except NotKept as no:
        raise Malformed("", no.why) from None


def _board(given: str | Mapping[str, Any] | None, folder: Path) -> BoardForm | str | None:
    """A board written in place, or from a file; or its name, or None, for the rules to look up."""
    text = given if isinstance(given, str | None) else json.dumps(given)
    if text is None or text in names():
        return text
    if text.lstrip().startswith(("<", "{")):
        try:
            return read_board_text(text, "board")
        except Malformed as error:
            raise Malformed("board", str(error), error.rule) from None
    return read_board_file(folder / text) if "/" in text or "." in text else text


# -- verdicts --------------------------------------------------------------------------


def verdict(table: Table, seat: Seat, command: Command | Misshapen) -> dict[str, Any]:
    """What the referee says to the command. The table goes on from there."""
    if isinstance(command, Misshapen):
        return {"accepted": False, "rule": command.rule, "why": command.why}
    try:
        events = _say(table, seat, command)
    except NotKept as no:
        return {"accepted": False, "rule": no.rule, "why": no.why}
    first = events[0]
    if not isinstance(first, CommandRefused):
        return {"accepted": True, "events": _written(events)}
    refused = {"accepted": False, "rule": first.rule, "why": first.why}
    after = _written(events[1:])  # a strict table removes the seat
    return {**refused, "events": after} if after else refused


def _written(events: Sequence[Event]) -> list[dict[str, object]]:
    """What came of a command; nobody asks for the seed of a question."""
    return [write_event(event) for event in events if not isinstance(event, SeedRevealed)]


def _say(table: Table, seat: Seat | None, command: Command) -> tuple[Event, ...]:
    return judge(table, Letter("ask", GAME, seat, command), 0, "")


# -- scores ----------------------------------------------------------------------------


def counted(table: Table, own: SeatScore) -> SeatCounted:
    """One seat's score, its tickets and stations told by their cities."""
    place = table.places[own.seat]
    lent = zip(place.stations.items(), own.lent, strict=True)
    return SeatCounted(
        seat=own.seat,
        routes=own.routes,
        tickets=tuple(_tickets(table, own)),
        ticket_points=own.tickets,
        longest=own.longest,
        longest_bonus=own.bonus,
        stations=tuple(StationCounted(city, neighbour, route) for (city, neighbour), route in lent),
        station_points=own.stations,
        merchandise=own.merchandise,
        most_tickets_bonus=own.most,
        total=own.total,
        place=own.place,
    )


def _tickets(table: Table, own: SeatScore) -> Iterator[TicketCounted]:
    """In the order in which the seat got them."""
    for held in table.places[own.seat].tickets:
        if held is not None:
            ticket = table.board.tickets[held]
            yield TicketCounted((ticket.a, ticket.b), ticket.points, held in own.made)


# -- reading ---------------------------------------------------------------------------


def _text(source: str) -> str:
    try:
        return read_text(None if source == "-" else Path(source), BYTES_MOST)
    except Malformed as error:
        raise Malformed(source, error.why, error.rule) from None


def _said(question: dict[str, Any]) -> object:
    """The question with ids for names, without the fields that hold null: YAML spells nothing like that."""
    said = {field: told for field, told in question.items() if told is not None}
    if isinstance(position := said.get("position"), dict):
        said["position"] = {field: told for field, told in position.items() if told is not None}
    return with_ids(said)


def _in_one_line(told: str) -> str:
    """Nothing of the question can break the line, move the cursor, or fill the screen."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in told)
    return shown if len(shown) <= LETTERS_MOST else f"{shown[: LETTERS_MOST - 4]} ..."
