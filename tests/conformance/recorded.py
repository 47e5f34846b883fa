"""Games on the USA board that nobody here wrote, read from ../shared/cases and played again.

Chance is data there: where our rules shuffle, the recorded order takes the shuffle's place
(it must be a shuffle of the same cards), and everything else must follow."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from schemas.commands import (
    ClaimRoute,
    Command,
    CommandEnvelope,
    CreateGame,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    SeatPlan,
    StartGame,
)
from schemas.events import DeckShuffled, Event, TicketsShuffled
from services.referee.rules import GameState, decide_envelope, evolve
from services.referee.rules.board import Board, load_board
from services.referee.rules.decide import decide_events

CASES: Final = Path(__file__).parents[3] / "shared" / "cases"
GAMES: Final = CASES / "usa-games"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def plain(name: str) -> str:
    """A city's name as its id is made of it."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z]+", "-", letters.lower()).strip("-")


@cache
def routes() -> dict[int, str]:
    """Our route for each of the source's numbers: same cities, colour and length, each once."""
    board, taken, found = load_board("usa"), set[str](), {}
    for told in read(GAMES / "board.json")["routes"]:
        ends = {plain(told["a"]), plain(told["b"])}
        fitting = (
            route.id
            for route in board.routes.values()
            if {route.a, route.b} == ends
            and (route.color, route.length) == (told["color"], told["length"])
            and route.id not in taken
        )
        found[told["id"]] = next(fitting)
        taken.add(found[told["id"]])
    return found


def ticket(board: Board, text: str) -> str:
    """Our id of "Calgary - Phoenix (13)"."""
    match = re.fullmatch(r"(.+) - (.+) \((\d+)\)", text)
    assert match, text
    ends = {plain(match[1]), plain(match[2])}
    (found,) = (t.id for t in board.tickets.values() if {t.a, t.b} == ends and t.points == int(match[3]))
    return found


class Recorded:
    """A recorded game, played again move by move."""

    def __init__(self, path: Path) -> None:
        self.told = read(path)
        self.table = GameState()
        plans = tuple(SeatPlan("bot", "random") for _ in range(self.told["players"]))
        decide_envelope(self.table, CommandEnvelope("create", "again", None, CreateGame(plans)), 0, "5e" * 32)
        tickets = [ticket(self.table.board, text) for text in self.told["ticket_deck_top_first"]]
        self.shuffles: list[list[str]] = [self.told["deck_top_first"]]
        self.shuffles += [event["reshuffle"] for event in self.told["events"] if "reshuffle" in event]
        self.tickets = tickets
        self.act(None, StartGame())

    def act(self, seat: int | None, command: Command) -> None:
        for event in decide_events(self.table, seat, command):
            evolve(self.table, self.as_recorded(event))

    def as_recorded(self, event: Event) -> Event:
        match event:
            case DeckShuffled(order):
                recorded = tuple(self.shuffles.pop(0))
                assert Counter(recorded) == Counter(order), "a shuffle of other cards"
                return DeckShuffled(recorded, None)
            case TicketsShuffled(deck, order):
                assert Counter(self.tickets) == Counter(order)
                return TicketsShuffled(deck, tuple(self.tickets), None)
            case _:
                return event

    def moves(self) -> Iterator[tuple[int, Command, dict[str, Any]]]:
        """Who did what, and how the source tells it."""
        for told in self.told["events"]:
            if "keep" in told:
                keep = told["keep"]
                kept = tuple(i for i, text in enumerate(keep["offered"]) if text in keep["kept"])
                yield keep["player"], KeepTickets(kept), told
            match told.get("do"):
                case "claim":
                    paid = {card: n for card, n in told["paid"].items() if n}
                    yield told["player"], ClaimRoute(routes()[told["route"]], paid), told
                case "draw tickets":
                    yield told["player"], DrawTickets(), told
                case "draw" if told["source"] == "deck":
                    yield told["player"], DrawBlind(), told
                case "draw":
                    yield told["player"], DrawMarket(int(told["source"][7:-1])), told
