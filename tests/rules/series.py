"""Games that end as a test says, and whole play-offs of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.codec import pack_envelope, unpack_envelope
from schemas.commands import CommandEnvelope, Leave, Pass, StartGame
from schemas.events import GameEnded, PlayOffCalled, PlayOffEnded
from services.referee.rules import GameState, decide_envelope
from services.referee.rules.moves.play_off import next_game
from tests.rules.given import CREATED, SEED, Scene, choose_at_first, given, own

WIN = "cadiz-lisboa-a"  # whoever owns a route has won
NOTHING: dict[str, Any] = {"market": (None,) * 5, "deck": (), "ticket_deck": ()}


def ended(seats: int = 2, rules: str = "europe", **more: Any) -> Scene:
    """A game that ended because nobody could do anything: all with nothing but what is given."""
    scene = given(seats, rules=rules, hands=[{}] * seats, tickets=[[]] * seats, **{**NOTHING, **more})
    return passed_round(scene)


def passed_round(scene: Scene) -> Scene:
    while not scene.table.result:
        assert scene.table.turn is not None
        scene.when(scene.table.turn, Pass())
    return scene


def calls(scene: Scene) -> list[tuple[int, ...]]:
    """The seats of the play-offs that the end calls."""
    return [event.seats for event in scene.told(PlayOffCalled)]


def following(table: GameState) -> tuple[GameState, tuple[Any, ...]]:
    """The game that follows, laid as a referee lays it from the letter; and what was told of it."""
    wish = next_game(table)
    assert wish is not None
    game, command = wish
    letter = unpack_envelope(pack_envelope(CommandEnvelope("create", game, None, command)))
    assert letter.command == command
    laid = GameState()
    return laid, decide_envelope(laid, letter, CREATED, SEED)


class Series:
    """A play-off from its first game on: each of its games ends as the test says."""

    def __init__(self, seats: int = 3, owners: Mapping[str, int] | None = None, **more: Any) -> None:
        """By default seats 0 and 2 share the first place."""
        self.owners = {WIN: 0, "brest-dieppe-a": 2} if owners is None else owners
        self.scene = ended(seats, owners=self.owners, **more)

    def played(self, winner: int | None, leaver: int | None = None) -> Series:
        """One game more, which this seat of it won; or nobody did."""
        table, _ = following(self.scene.table)
        self.scene = Scene(table)
        self.scene.now = CREATED
        letter = CommandEnvelope("start", table.game, None, StartGame())
        decide_envelope(table, letter, CREATED, SEED)
        choose_at_first(table)
        for place in table.seats:
            place.hand, place.tickets = dict.fromkeys(place.hand, 0), []
        table.market, table.deck, table.discards = [None] * 5, [], dict.fromkeys(table.discards, 0)
        table.ticket_decks["regular"] = []
        if winner is not None:
            own(table, WIN, winner)
        if leaver is not None:
            self.scene.when(leaver, Leave())
        passed_round(self.scene)
        return self

    def goes_on(self, number: int, *wins: int) -> Series:
        """The end calls this game of the play-off, after so many wins of each."""
        (call,) = self.scene.told(PlayOffCalled)
        assert (call.game, call.play_off.number, call.play_off.wins) == (f"scene-po{number}", number, wins)
        assert call.play_off.of == "scene"
        assert call.seats == tuple(range(len(wins)))
        assert not self.scene.told(PlayOffEnded)
        return self

    def ended(self, *winners: int) -> None:
        """The end says who has won, as seats of the first game, and calls no further one."""
        assert self.scene.told(PlayOffEnded) == (PlayOffEnded("scene", winners),)
        assert isinstance(self.scene.events[-1], GameEnded)
        assert next_game(self.scene.table) is None
