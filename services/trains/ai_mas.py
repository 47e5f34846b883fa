"""A player of the AI-MAS class: subclass `TTRClient`, write `my_method`, and call `play`.

The kit calls `my_method` for as long as the player is to act, also with a card, tickets or a tunnel open. It acts by
methods that return integers, negative ones if nothing was done. The kit passes if nothing else is legal, or if the
player builds no station where it could do nothing else (TURN-4), and goes on into a play-off by itself (TIE-1).

The table as an AI-MAS class sees it: nodes and edges by position, players, missions and cards; a map's XML form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from types import MappingProxyType
from typing import Final, NamedTuple
from xml.etree import ElementTree as Xml

from schemas.commands import Command, Pass
from schemas.errors import InvalidInputError
from schemas.events import GameEnded
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.entries import ViewEntry
from schemas.trains.boards.aimas import COLORS
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
from schemas.trains.rule_options import RuleOptions
from services.bots.kit.seat_client import SeatClient
from services.bots.kit.seat_requests import create_table, find_seat, join, take_play_off_seat
from services.bots.kit.seat_session import ServerRefusedError, UnreachableError
from services.referee.games import legal
from services.referee.games.decide import decide_events
from services.referee.games.trains.board import GRAY, Board, Route, board_ids, points_for_route
from services.referee.games.trains.moves.routes import TUNNEL_KIND
from services.referee.games.trains.train_state import TICKETS, TUNNEL, TrainGame


class TTRCons:
    """The constants: what a method returns when it failed, and the colours, one character each."""

    WRONG_CONTENT = -1  # a payment, a city or a ticket that doesn't suit
    WRONG_DEMAND = -2  # a rule forbids it now
    REJECTED = -3  # it isn't this player's turn (any more)
    UNKNOWN_COMMAND = -4  # this game has no such action
    NOT_SENT = -5
    NO_ANSWER = -6
    UNEXPECTED_ANSWER = -7

    ENGINE = "e"
    GRAY = "*"
    NONE = "0"
    COLORS = "pwbyorgn"


CARD_OF: Final[Mapping[str, str]] = MappingProxyType(
    {**{character: COLORS[character] for character in TTRCons.COLORS}, TTRCons.ENGINE: LOCOMOTIVE}
)
COLOR_CHARACTERS: Final[Mapping[str, str]] = MappingProxyType(
    {**{color: character for character, color in COLORS.items()}, LOCOMOTIVE: TTRCons.ENGINE}
)

_RULES_BY_CODE: Final[Mapping[int, str]] = {
    TTRCons.WRONG_CONTENT: """SHAPE-1 SIZE-1 SETUP-4 TICKET-3 ROUTE-2 ROUTE-7 FERRY-1 TUNNEL-3 STATION-2 STATION-3
        PASSENGER-1 PASSENGER-2""",
    TTRCons.WRONG_DEMAND: """SETUP-2 SETUP-3 TURN-3 TURN-4 CARD-1 CARD-2 CARD-4 ROUTE-1 ROUTE-3 ROUTE-4 DOUBLE-1 DOUBLE-2
        TICKET-1 STATION-1""",
    TTRCons.REJECTED: "TURN-1 CLOCK-2 CONDUCT-3 TOKEN-1 GAME-2 GAME-3 GAME-5",
    TTRCons.UNKNOWN_COMMAND: "TURN-2",
    TTRCons.NOT_SENT: "RATE-1 BUSY-1 FULL-1 LEVEL-1 GAME-1",
    TTRCons.NO_ANSWER: "WAIT-1",
    TTRCons.UNEXPECTED_ANSWER: "ID-1 POISON-1 OPERATOR-1 GAME-4 GAME-6 GAME-7 GAME-8 GAME-9 DISPUTE-1 DISPUTE-2 SUGGEST-1 UNDO-1 UNDO-2",
}
CODE_BY_RULE: Final[Mapping[str, int]] = MappingProxyType(
    {rule: code for code, rules in _RULES_BY_CODE.items() for rule in rules.split()}
)


def code_of(rule: str) -> int:
    """The return code for a refusal by this rule; a rule that isn't in the table is unexpected."""
    return CODE_BY_RULE.get(rule, TTRCons.UNEXPECTED_ANSWER)


TRACKS_MOST: Final = 2  # of an edge


class TTRNode(NamedTuple):
    """A city, and whose station stands there."""

    name: str
    x: float
    y: float
    station: Seat | None
    id: str  # in commands of the ordinary kit


class TTREdge(NamedTuple):
    """A route, or two parallel ones, between two nodes (positions, from 0). The owners are seats."""

    node1: int
    node2: int
    color1: str  # a character; * is gray
    color2: str  # of the second track; 0 where there is none
    value: int  # points
    eng: int  # locomotives that it asks for
    cars: int  # its other spaces
    tunnel: bool
    owner1: Seat | None
    owner2: Seat | None
    routes: tuple[str, ...]  # the ids of its tracks, in commands of the ordinary kit


class TTRMap:
    """The nodes in the order of the board, and the edges between them."""

    def __init__(self, state: TrainGame) -> None:
        table = state.own
        self.nodes = [
            TTRNode(city.name, *city.at, table.station_owners.get(city.id), city.id)
            for city in table.board.form.cities
        ]
        self.edges = _edges_of(table.board, state.rule_options, table.route_owners)
        self._ids = board_ids(table.board)

    def position(self, node: int | str) -> int | None:
        """The position of a node that a call names by its position, its id or its name, with or without accents; None for
        another node."""
        if isinstance(node, int):
            return node if 0 <= node < len(self.nodes) else None
        city = self._ids.city(node)
        return next((place for place, each in enumerate(self.nodes) if each.id == city), None)

    def tracks(self, node1: int | str, node2: int | str) -> list[str]:
        """The ids of the routes that join two nodes, in their order."""
        ends = {self.position(node1), self.position(node2)}
        return [route for edge in self.edges if {edge.node1, edge.node2} == ends for route in edge.routes]

    def edge_of(self, route: str) -> TTREdge:
        """The edge that a route is a track of. Raises StopIteration for another board's."""
        return next(edge for edge in self.edges if route in edge.routes)


def _edges_of(board: Board, rule_options: RuleOptions, owners: Mapping[str, Seat]) -> list[TTREdge]:
    """The routes of a board as edges: two parallel ones are one, if they differ in nothing but their colour."""
    found: dict[tuple[object, ...], list[list[Route]]] = {}
    all_tracks: list[list[Route]] = []
    for route in board.routes.values():
        key = frozenset((route.a, route.b)), route.fare[0], route.locomotives, route.kind
        alike = found.setdefault(key, [])
        if not alike or len(alike[-1]) == TRACKS_MOST:
            alike.append([])
            all_tracks.append(alike[-1])
        alike[-1].append(route)
    positions = {city: place for place, city in enumerate(board.cities)}
    return [_edge(tracks, positions, rule_options, owners) for tracks in all_tracks]


def _edge(
    tracks: Sequence[Route],
    positions: Mapping[str, int],
    rule_options: RuleOptions,
    owners: Mapping[str, Seat],
) -> TTREdge:
    first, is_double = tracks[0], len(tracks) == TRACKS_MOST
    return TTREdge(
        positions[first.a],
        positions[first.b],
        COLOR_CHARACTERS[first.color],
        COLOR_CHARACTERS[tracks[1].color] if is_double else TTRCons.NONE,
        points_for_route(rule_options, first),
        first.locomotives,
        first.length - first.locomotives,
        first.kind == TUNNEL_KIND,
        owners.get(first.id),
        owners.get(tracks[1].id) if is_double else None,
        tuple(track.id for track in tracks),
    )


def write_map(board: Board, rule_options: RuleOptions) -> str:
    """The board as XML of the competition's form, which `--board` reads (docs/reference/boards.md). Edges name their cities, or their
    positions if two cities have one name. Raises InvalidInputError, naming the city or route that the form can't say."""
    _require_known_routes(board, rule_options)
    references = _references(board)
    root = Xml.Element("map", name=board.title)
    nodes, edges = Xml.SubElement(root, "nodes"), Xml.SubElement(root, "edges")
    for city in board.form.cities:
        x, y = map(str, city.at)
        Xml.SubElement(nodes, "node", name=city.name, x=x, y=y)
    for edge in _edges_of(board, rule_options, {}):
        Xml.SubElement(
            edges,
            "edge",
            node1=references[edge.node1],
            node2=references[edge.node2],
            color1=edge.color1,
            color2=edge.color2,
            value=str(edge.value),
            eng=str(edge.eng),
            cars=str(edge.cars),
            tunnel=str(int(edge.tunnel)),
        )
    Xml.indent(root, " ")
    return Xml.tostring(root, encoding="unicode") + "\n"


def _require_known_routes(board: Board, rule_options: RuleOptions) -> None:
    """Refuses routes without points, and those whose kind their locomotives don't tell."""
    points = dict(enumerate(rule_options.route_points, 1))
    for route in board.routes.values():
        kind = TUNNEL_KIND if route.kind == TUNNEL_KIND else "ferry" if route.locomotives else "rail"
        if points.get(route.length) is None:
            raise InvalidInputError(f"route {route.id}", f"{route.length} spaces have no points to write")
        if kind != route.kind:
            reason = f"is a {route.kind} of {route.locomotives} locomotives, which the AI-MAS form can't say"
            raise InvalidInputError(f"route {route.id}", reason)


def _references(board: Board) -> list[str]:
    """By what edges refer to each city: its name, without blanks at the ends, or its position if others have that name.

    Refuses countries, merchandise, a name that is blank, and a position that is another city's name."""
    names = [city.name.strip() for city in board.form.cities]
    references = []
    for place, (city, name) in enumerate(zip(board.form.cities, names, strict=True)):
        reference = name if names.count(name) == 1 else str(place)
        has_more = "is a country" if city.country else "has merchandise" if city.merchandise else ""
        if reference != name and reference in names:
            has_more = f"shares its name, and another city is called {reference}, as its position"
        if has_more or not name:
            reason = f"{has_more or 'has no name'}, which the AI-MAS form can't say"
            raise InvalidInputError(f"city {city.id}", reason)
        references.append(reference)
    return references


# -- players ---------------------------------------------------------------------------------


class TTRMission(NamedTuple):
    """A ticket: two cities by name, and its points."""

    source: str
    destination: str
    points: int
    id: str  # in commands of the ordinary kit


class TTRCard(NamedTuple):
    """A train card, by the character of its colour; e is an engine. A kind that europe hasn't has its own name."""

    color: str


class TTRTunnel(NamedTuple):
    """A tunnel that waits for its extra: the payment so far, as `claim_route` names it, and the cards to be added."""

    node1: int
    node2: int
    color: str  # of the wagon cards; e where only engines pay
    wagons: int
    engines: int
    cards: int


def tunnel_of(state: TrainGame) -> TTRTunnel | None:
    """The tunnel that is open; None without one."""
    table = state.own
    if table.tunnel is None:
        return None
    edge = TTRMap(state).edge_of(table.tunnel.route)
    engines = table.tunnel.cards.get(LOCOMOTIVE, 0)
    wagons = {card: count for card, count in table.tunnel.cards.items() if card != LOCOMOTIVE}
    color = COLOR_CHARACTERS[next(iter(wagons), LOCOMOTIVE)]
    return TTRTunnel(edge.node1, edge.node2, color, sum(wagons.values()), engines, table.tunnel.extra)


class TTRPlayer(NamedTuple):
    """A player. Of the others, `hand` and `missions` are empty: only their numbers are known."""

    seat: Seat
    name: str
    wagons: int
    stations: int  # that it may still build
    points: int  # of its routes
    cards: int  # how many it holds
    mission_count: int
    remaining_ms: int | None  # of its clock, at the last entry; None without one
    hand: tuple[TTRCard, ...]
    missions: tuple[TTRMission, ...]


def player_of(state: TrainGame, seat: Seat, viewer: Seat) -> TTRPlayer:
    """A player as this viewer sees it."""
    seat_state, options, is_own = state.seats[seat], state.rule_options, seat == viewer
    hand = {card: count for card, count in seat_state.own.hand.items() if is_own and card is not None}
    return TTRPlayer(
        seat,
        seat_state.name,
        seat_state.own.cars,
        len(options.station_costs) - len(seat_state.own.stations),
        seat_state.own.running_score,
        seat_state.own.cards,
        len(seat_state.own.tickets),
        None if options.clock_ms is None else max(0, seat_state.clock_ms),
        tuple(
            TTRCard(COLOR_CHARACTERS.get(card, card)) for card, count in hand.items() for _ in range(count)
        ),
        missions_of(state, seat_state.own.tickets) if is_own else (),
    )


def missions_of(state: TrainGame, tickets: Iterable[str | None]) -> tuple[TTRMission, ...]:
    """The tickets that can be seen among these."""
    table = state.own
    known = (table.board.tickets[ticket] for ticket in tickets if ticket is not None)
    cities = table.board.cities
    return tuple(TTRMission(cities[each.a], cities[each.b], each.points, each.id) for each in known)


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
