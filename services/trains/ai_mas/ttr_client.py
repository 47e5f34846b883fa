"""A player of the AI-MAS class: subclass `TTRClient`, write `my_method`, and call `play`.

The kit calls `my_method` for as long as the player is to act, also with a card, tickets or a tunnel open. It acts by
methods that return integers, negative ones if nothing was done. The kit passes if nothing else is legal, or if the player
builds no station where it could do nothing else (TURN-4), and goes on into a play-off by itself (TIE-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Final

from schemas.commands import Command, Pass
from schemas.events import GameEnded
from schemas.refusals import CommandRefusedError
from schemas.stored.entries import ViewEntry
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    PayTunnel,
)
from schemas.trains.events import RouteClaimed, StationBuilt, TunnelRevealed
from schemas.trains.field_types import LOCOMOTIVE
from services.bots.kit.kit_errors import ServerRefusedError, UnreachableError
from services.bots.kit.seat_client import SeatClient
from services.bots.kit.seat_requests import create_table, find_seat, join, take_play_off_seat
from services.referee.games import legal
from services.referee.games.decide import decide_events
from services.referee.games.trains.board import GRAY
from services.referee.games.trains.pending_choices import TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainGame
from services.trains.ai_mas.ttr_codes import CARD_OF, TTRCons, code_of
from services.trains.ai_mas.ttr_table import (
    TTREdge,
    TTRMap,
    TTRMission,
    TTRPlayer,
    TTRTunnel,
    missions_of,
    player_of,
    tunnel_of,
)

INVITATION_PREFIX = "lli"  # of an invitation; anything else is a token
OWN_TABLE: Final[Mapping[str, object]] = {
    "ruleset": "europe",
    "clock": "ai-mas",
    "seats": [{"kind": "human"}, {"kind": "bot", "policy": "greedy"}],
}


class TTRClient:
    """A player at one table of the server at `host` and `port`: `name` is the game's id, `password` the seat's token or
    an invitation (without one it takes any free seat), `user` and `agent` the name that others see. Without a `name` it
    makes a table with the competition's clock, plays against `greedy`, and starts at once.

    A subclass may set `age` (years, or a birthday), by which turns go where the oldest or the youngest begins.

    Raises KitError if it gets no seat. Any call raises VerificationFailedError for a view that doesn't fit its chain."""

    age: int | date | None = None

    def __init__(self, user: str, password: str, agent: str, name: str, host: str, port: int) -> None:
        url, shown = f"http://{host}:{port}", " ".join(part for part in (user, agent) if part)[:40].strip()
        own_table = None if name else create_table(url, OWN_TABLE)
        name = own_table.game if own_table else name
        if password and not password.startswith(INVITATION_PREFIX):
            self.seat = find_seat(url, name, password)
        else:
            self.seat = join(url, name, shown, password, age=self.age)
        if own_table:
            own_table.start()
        self._open()

    def my_method(self) -> None:
        """One step of a turn: what a competitor writes, here or as `myMethod`."""
        self.myMethod()

    def myMethod(self) -> None:
        """One step of a turn, under its first name."""
        raise NotImplementedError("write my_method: it is called while your player is to act")

    def play(self) -> list[GameEnded]:
        """Play until the game is over, and the games of its play-off; returns the result of each."""
        results = []
        while True:
            with self._client:
                for turn in self._client:
                    if turn.commands != [Pass()]:
                        self.my_method()
                    if Pass() in legal(self._state, self.seat.seat):
                        self._client.send(Pass())
            if self._state.result is not None:
                results.append(self._state.result)
            follows = self._state.next_play_off
            if follows is None or self.seat.seat not in follows.seats:
                return results
            self.seat = take_play_off_seat(self.seat)
            self._open()

    def _open(self) -> None:
        self._client = SeatClient(self.seat)
        self._client.session.on_entry = self._notify
        self._last_shown = 0

    @property
    def _state(self) -> TrainGame:
        return self._client.session.state

    # -- what the player sees ------------------------------------------------------------

    @property
    def my_map(self) -> TTRMap:
        """Nodes and edges, with their owners as they are now."""
        return TTRMap(self._state)

    @property
    def my_player(self) -> TTRPlayer:
        """This player, with its hand and missions."""
        return player_of(self._state, self.seat.seat, self.seat.seat)

    @property
    def player_list(self) -> list[TTRPlayer]:
        """All players, in the order of their seats."""
        return [player_of(self._state, seat, self.seat.seat) for seat in range(len(self._state.seats))]

    @property
    def open_deck(self) -> list[str]:
        """The colours of the cards that lie face up."""
        known = {card: character for character, card in CARD_OF.items()}
        return [known[card] for card in self._state.own.market if card is not None]

    @property
    def offered_missions(self) -> tuple[TTRMission, ...]:
        """The missions to choose from; none without such a choice."""
        offer = self._state.seats[self.seat.seat].own.offer
        return missions_of(self._state, offer) if self._choice() == TICKETS else ()

    @property
    def open_tunnel(self) -> TTRTunnel | None:
        """The tunnel that asks this player for more; None without one."""
        return tunnel_of(self._state) if self._choice() == TUNNEL else None

    @property
    def is_last_round(self) -> bool:
        """Whether the last turns have begun."""
        return self._state.own.in_last_turns

    @property
    def my_turn(self) -> bool:
        """Whether this player is to act."""
        return self.seat.seat in self._state.pending_choices

    @property
    def first_missions(self) -> bool:
        """Whether the starting missions are to be chosen: the first call of `my_method` is for that."""
        return self._state.turn is None and self._choice() == TICKETS

    def on_claim(self, player: int, edge: TTREdge, route: str) -> None:
        """A player claimed a track of an edge: a subclass may write it, here or under its first name."""
        self.onClaim(player, edge, route)

    def on_station(self, player: int, node: int) -> None:
        """A player built a station: a subclass may write it, here or under its first name."""
        self.onStation(player, node)

    def on_demand(self, player: int, edge: TTREdge, cards: int) -> None:
        """A tunnel asks a player for so many cards more: a subclass may write it, here or under its first name."""
        self.onDemand(player, edge, cards)

    def onClaim(self, player: int, edge: TTREdge, route: str) -> None:
        """Hear of a claim, under its first name; nothing happens here."""

    def onStation(self, player: int, node: int) -> None:
        """Hear of a station, under its first name; nothing happens here."""

    def onDemand(self, player: int, edge: TTREdge, cards: int) -> None:
        """Hear of a demand, under its first name; nothing happens here."""

    # -- what the player does ------------------------------------------------------------

    def draw_card_from_deck(self) -> int:
        """1: a card was drawn. 0: there was none."""
        return self._send_for_card(DrawBlind(), "CARD-4")

    def draw_card_from_open_deck(self, color: str) -> int:
        """1: a card of this colour (e is an engine) was taken. 0: none lies there."""
        if color not in CARD_OF:
            return TTRCons.WRONG_CONTENT
        return self._send_for_card(DrawMarket(color=CARD_OF[color]), "CARD-1")

    def draw_missions(self) -> int:
        """How many missions are offered now, to be kept or rejected. 0: none is left."""
        code = self._send(DrawTickets())
        if code:
            return 0 if self._refusal_rule == "TICKET-1" else code
        return len(self.offered_missions)

    def keep_all_missions(self) -> int:
        """0: all that were offered are kept."""
        return min(0, self.reject_missions(None, None))

    def reject_missions(self, mission1: TTRMission | None, mission2: TTRMission | None) -> int:
        """How many were given back, the rest is kept."""
        offered = self.offered_missions
        rejected = {mission for mission in (mission1, mission2) if mission is not None}
        if not rejected <= set(offered):
            return TTRCons.WRONG_CONTENT
        keep = tuple(place for place, mission in enumerate(offered) if mission not in rejected)
        return self._send(KeepTickets(keep)) or len(rejected)

    def claim_route(self, node1: int | str, node2: int | str, color: str, wagons: int, engines: int) -> int:
        """0: claimed. More: so many extra cards are asked for; then the same call with the whole payment pays, and
        `claim_pass` declines. `color` is of the wagon cards."""
        cards, tracks = _payment(color, wagons, engines), self.my_map.tracks(node1, node2)
        if cards is None or not tracks:
            return TTRCons.WRONG_CONTENT
        if self._choice() == TUNNEL:
            return self._pay_tunnel(tracks, cards)
        code = self._send(ClaimRoute(self._track(tracks, color), cards))
        tunnel = self._state.own.tunnel
        return tunnel.extra if not code and tunnel is not None and self._choice() == TUNNEL else code

    def claim_pass(self) -> int:
        """0: the tunnel is declined."""
        return self._send(DeclineTunnel()) if self._choice() == TUNNEL else TTRCons.WRONG_DEMAND

    def build_station(
        self, node: int | str, connection: int | str | None, color: str, wagons: int, engines: int
    ) -> int:
        """0: built. `connection` is the neighbour whose route it borrows; None leaves that to the end (STATION-3)."""
        cards, nodes = _payment(color, wagons, engines), self.my_map.nodes
        place = self.my_map.position(node)
        neighbour = None if connection is None else self.my_map.position(connection)
        if cards is None or place is None or (connection is not None and neighbour is None):
            return TTRCons.WRONG_CONTENT
        borrowed = None if neighbour is None else nodes[neighbour].id
        return self._send(BuildStation(nodes[place].id, cards, borrowed))

    # -- inside --------------------------------------------------------------------------

    def _choice(self) -> str | None:
        return self._state.pending_choices.get(self.seat.seat)

    def _track(self, tracks: Sequence[str], color: str) -> str:
        """The first track that is free and whose colour is the cards', or gray; else the second."""
        routes = self._state.own.board.routes
        for route in tracks:
            if route not in self._state.own.route_owners and routes[route].color in (
                GRAY,
                CARD_OF.get(color),
            ):
                return route
        return tracks[-1]

    def _pay_tunnel(self, tracks: Sequence[str], payment: dict[str, int]) -> int:
        """Pay the extra with what this whole payment has beyond the base."""
        tunnel = self._state.own.tunnel
        assert tunnel is not None, "the choice is about it"
        extra = Counter(payment)
        extra.subtract(tunnel.cards)
        if tunnel.route not in tracks or min(extra.values()) < 0:
            return TTRCons.WRONG_DEMAND
        cards = {card: count for card, count in extra.items() if count}
        return self._send(PayTunnel(cards)) if cards else tunnel.extra

    def _send_for_card(self, command: Command, none_left: str) -> int:
        code = self._send(command)
        return 1 if not code else 0 if self._refusal_rule == none_left else code

    def _send(self, command: Command) -> int:
        """0 for an accepted command, else the code. A command that the rules forbid isn't sent."""
        self._refusal_rule = self._check(command)
        if not self._refusal_rule:
            try:
                refused = self._client.send(command).refused
            except UnreachableError:
                return TTRCons.NO_ANSWER
            except ServerRefusedError:
                return TTRCons.NOT_SENT
            self._refusal_rule = refused.rule if refused else ""
        return code_of(self._refusal_rule) if self._refusal_rule else 0

    def _check(self, command: Command) -> str:
        """The rule by which this player's own view already forbids it; empty for none."""
        if command in legal(self._state, self.seat.seat):
            return ""
        with suppress(StopIteration):  # it has no event: nothing forbids it
            try:
                next(iter(decide_events(self._state, self.seat.seat, command)))
            except CommandRefusedError as refused:
                return refused.rule
        return ""

    def _notify(self, entry: ViewEntry) -> None:
        """Show claims, stations and demands to the subclass, each once."""
        if entry.number <= self._last_shown:
            return
        self._last_shown = entry.number
        for event in entry.events:
            if isinstance(event, RouteClaimed):
                self.on_claim(event.seat, self.my_map.edge_of(event.route), event.route)
            elif isinstance(event, StationBuilt):
                node = self.my_map.position(event.city)
                self.on_station(event.seat, -1 if node is None else node)
            elif isinstance(event, TunnelRevealed) and event.extra:
                self.on_demand(event.seat, self.my_map.edge_of(event.route), event.extra)

    # -- the names of its first form -----------------------------------------------------

    myMap, myPlayer, playerList = my_map, my_player, player_list
    openDeck, offeredMissions, openTunnel = open_deck, offered_missions, open_tunnel
    isLastRound, myTurn, firstMissions = is_last_round, my_turn, first_missions
    drawCardFromDeck, drawCardFromOpenDeck = draw_card_from_deck, draw_card_from_open_deck
    drawMissions, keepAllMissions, rejectMissions = draw_missions, keep_all_missions, reject_missions
    claimRoute, claimPass, buildStation = claim_route, claim_pass, build_station


def _payment(color: str, wagons: int, engines: int) -> dict[str, int] | None:
    """The cards that a call pays with; None for no cards."""
    if (
        wagons < 0
        or engines < 0
        or not wagons + engines
        or (wagons and CARD_OF.get(color) in (None, LOCOMOTIVE))
    ):
        return None
    cards = {CARD_OF[color]: wagons} if wagons else {}
    return {**cards, LOCOMOTIVE: engines} if engines else cards
