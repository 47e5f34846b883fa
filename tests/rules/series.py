"""Games that end as a test wants, and whole play-offs of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.commands import CommandEnvelope, Leave, Pass, StartGame
from schemas.events import GameEnded, PlayOffCalled, PlayOffEnded
from schemas.stored.codec import pack_envelope, unpack_envelope
from services.referee.games import GameState, decide_envelope
from services.referee.games.play_off import next_game
from tests.rules.given import CREATED_AT_MS, SEED, Scene, give_route, given, make_start_choices

WIN = "cadiz-lisboa-a"  # the seat that owns a route wins
NOTHING: dict[str, Any] = {"market": (None,) * 5, "deck": (), "ticket_deck": ()}


def ended_game(seats: int = 2, rules: str = "europe", **more: Any) -> Scene:
    """A game that ended because no seat could do anything: nobody has anything but what is given."""
    scene = given(seats, rules=rules, hands=[{}] * seats, tickets=[[]] * seats, **{**NOTHING, **more})
    return pass_until_end(scene)


def pass_until_end(scene: Scene) -> Scene:
    while not scene.state.result:
        assert scene.state.turn is not None
        scene.when(scene.state.turn, Pass())
    return scene


def called_play_offs(scene: Scene) -> list[tuple[int, ...]]:
    """The seats of the play-offs that the end calls."""
    return [event.seats for event in scene.events_of(PlayOffCalled)]


def start_next_game(state: GameState) -> tuple[GameState, tuple[Any, ...]]:
    """The play-off game that follows, created from its envelope as a referee does; and its events."""
    following = next_game(state)
    assert following is not None
    game, command = following
    envelope = unpack_envelope(pack_envelope(CommandEnvelope("create", game, None, command)))
    assert envelope.command == command
    laid = GameState()
    return laid, decide_envelope(laid, envelope, CREATED_AT_MS, SEED)


class PlayOffSeries:
    """A play-off from its first game on: each of its games ends as the test says."""

    def __init__(self, seats: int = 3, owners: Mapping[str, int] | None = None, **more: Any) -> None:
        """By default seats 0 and 2 share the first place."""
        self.owners = {WIN: 0, "brest-dieppe-a": 2} if owners is None else owners
        self.scene = ended_game(seats, owners=self.owners, **more)

    def play(self, winner: int | None, leaver: int | None = None) -> PlayOffSeries:
        """One game more, which this seat of it won; None: nobody did."""
        state, _ = start_next_game(self.scene.state)
        self.scene = Scene(state)
        self.scene.now_ms = CREATED_AT_MS
        envelope = CommandEnvelope("start", state.game, None, StartGame())
        decide_envelope(state, envelope, CREATED_AT_MS, SEED)
        make_start_choices(state)
        for seat_state in state.seats:
            seat_state.own.hand, seat_state.own.tickets = dict.fromkeys(seat_state.own.hand, 0), []
        state.own.market, state.own.deck, state.own.discards = (
            [None] * 5,
            [],
            dict.fromkeys(state.own.discards, 0),
        )
        state.own.ticket_decks["regular"] = []
        if winner is not None:
            give_route(state, WIN, winner)
        if leaver is not None:
            self.scene.when(leaver, Leave())
        pass_until_end(self.scene)
        return self

    def calls_next(self, number: int, *wins: int) -> PlayOffSeries:
        """The end calls this game of the play-off, after so many wins of each."""
        call = self.scene.only(PlayOffCalled)
        assert (call.game, call.play_off.number, call.play_off.wins) == (f"scene-po{number}", number, wins)
        assert call.play_off.of == "scene"
        assert call.seats == tuple(range(len(wins)))
        assert not self.scene.events_of(PlayOffEnded)
        return self

    def ends_with(self, *winners: int) -> None:
        """The play-off ends with these winners, as seats of the first game, and no further game is called."""
        assert self.scene.events_of(PlayOffEnded) == (PlayOffEnded("scene", winners),)
        assert isinstance(self.scene.events[-1], GameEnded)
        assert next_game(self.scene.state) is None
