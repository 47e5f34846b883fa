"""Games on the USA board that nobody here wrote, read from ../shared/cases and played again.

Chance is data there: where our rules shuffle, the recorded order replaces the shuffled one (it has to
have the same cards), and everything else has to follow."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.events import DeckShuffled, Event
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.trains.events import TicketsShuffled
from services.referee.games import GameState, decide_envelope, evolve
from services.referee.games.decide import decide_events
from services.referee.games.trains.board import Board, load_board

CASES: Final = Path(__file__).parents[3] / "shared" / "cases"
GAMES: Final = CASES / "usa-games"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def city_id(name: str) -> str:
    """The id of a city, made from its name."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z]+", "-", ascii_name.lower()).strip("-")


@cache
def routes() -> dict[int, str]:
    """Our route for each of the source's numbers: same cities, colour and length, each once."""
    board, used, ids = load_board("usa"), set[str](), {}
    for row in read(GAMES / "board.json")["routes"]:
        ends = {city_id(row["a"]), city_id(row["b"])}
        candidates = (
            route.id
            for route in board.routes.values()
            if {route.a, route.b} == ends
            and (route.color, route.length) == (row["color"], row["length"])
            and route.id not in used
        )
        ids[row["id"]] = next(candidates)
        used.add(ids[row["id"]])
    return ids


def ticket(board: Board, text: str) -> str:
    """Our id of "Calgary - Phoenix (13)"."""
    match = re.fullmatch(r"(.+) - (.+) \((\d+)\)", text)
    assert match, text
    ends = {city_id(match[1]), city_id(match[2])}
    (ticket_id,) = (t.id for t in board.tickets.values() if {t.a, t.b} == ends and t.points == int(match[3]))
    return ticket_id


class Recorded:
    """A recorded game, played again move by move."""

    def __init__(self, path: Path) -> None:
        self.record = read(path)
        self.state = GameState()
        plans = tuple(SeatPlan("bot", "random") for _ in range(self.record["players"]))
        decide_envelope(self.state, CommandEnvelope("create", "again", None, CreateGame(plans)), 0, "5e" * 32)
        tickets = [ticket(self.state.own.board, text) for text in self.record["ticket_deck_top_first"]]
        self.shuffles: list[list[str]] = [self.record["deck_top_first"]]
        self.shuffles += [event["reshuffle"] for event in self.record["events"] if "reshuffle" in event]
        self.tickets = tickets
        self.act(None, StartGame())

    def act(self, seat: int | None, command: Command) -> None:
        for event in decide_events(self.state, seat, command):
            evolve(self.state, self.as_recorded(event))

    def as_recorded(self, event: Event) -> Event:
        match event:
            case DeckShuffled(order):
                recorded = tuple(self.shuffles.pop(0))
                assert Counter(recorded) == Counter(order), "the recorded shuffle has other cards"
                return DeckShuffled(recorded, "")
            case TicketsShuffled(deck, order):
                assert Counter(self.tickets) == Counter(order)
                return TicketsShuffled(deck, tuple(self.tickets), "")
            case _:
                return event

    def moves(self) -> Iterator[tuple[int, Command, dict[str, Any]]]:
        """The seat, its command, and the record of the move."""
        for row in self.record["events"]:
            if "keep" in row:
                keep = row["keep"]
                kept = tuple(i for i, text in enumerate(keep["offered"]) if text in keep["kept"])
                yield keep["player"], KeepTickets(kept), row
            match row.get("do"):
                case "claim":
                    paid = {card: n for card, n in row["paid"].items() if n}
                    yield row["player"], ClaimRoute(routes()[row["route"]], paid), row
                case "draw tickets":
                    yield row["player"], DrawTickets(), row
                case "draw" if row["source"] == "deck":
                    yield row["player"], DrawBlind(), row
                case "draw":
                    yield row["player"], DrawMarket(int(row["source"][7:-1])), row
