"""The client kit (services/bots/kit) against a running server: it plays, comes back, checks, and says what is wrong."""

from __future__ import annotations

import ast
import asyncio
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date
from pathlib import Path
from subprocess import PIPE, Popen

import httpx
import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from examples.bot import play
from schemas.commands import Command, Leave
from schemas.errors import CorruptDataError
from schemas.events import CommandRefused, GameEnded
from schemas.stored.codec import unpack_entry
from schemas.trains.commands import ClaimRoute, DrawBlind
from services.bots.kit import (
    AsyncSeatClient,
    KitError,
    SeatClient,
    SeatToken,
    ServerRefusedError,
    Turn,
    UnreachableError,
    find_seat,
    join,
    join_by_link,
    list_games,
)
from services.bots.kit.seat_requests import years_on
from services.bots.kit.seat_session import SeatSession
from services.ledger import RedisLedger
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.trains.ai_mas import TTRClient
from tests.gateway.clients import CreatedGame, Json, Player, Socket, bearer, entries, in_turn, minted
from tests.gateway.cutting_relay import cutting_relay

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW_CARS = {"cars": 8}  # a whole game, soon over
ALL_RULES = [
    pytest.param(rules, marks=[pytest.mark.long] * (rules != "europe"))
    for rules in ("usa", "europe", "marklin", "trains")
]


def url_of(http: httpx.Client) -> str:
    return str(http.base_url).rstrip("/")


def begun_by_kit(http: httpx.Client, *bots: str, **more: object) -> SeatToken:
    """A seat that the kit took, of a game with these bots that has started."""
    created = CreatedGame(http, "human", *bots, **more)
    seat = join(url_of(http), created.game, "Ada")
    created.start()
    return seat


def test_the_kit_lists_every_game_of_a_server(http: httpx.Client) -> None:
    created = [CreatedGame(http, "human", "greedy", visibility="public").game for _ in range(3)]
    found = [row["game"] for row in list_games(url_of(http), status="waiting", most="2")]
    assert found[:3] == created[::-1]
    assert len(found) == len(set(found))


def draw_or_first(turn: Turn) -> Command:
    return next((command for command in turn.commands if isinstance(command, DrawBlind)), turn.commands[0])


# -- the examples --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "first"), [("age", [1, 2, 0]), ("youngest", [2, 1, 0]), ("seated", [0, 1, 2])]
)
def test_TURN_1_players_of_the_kit_say_their_ages(http: httpx.Client, order: str, first: list[int]) -> None:
    # given
    created = CreatedGame(http, "human", "human", "human", options={"order": order})
    url = str(http.base_url).rstrip("/")
    # when
    join(url, created.game, "Ada")
    join(url, created.game, "Bo", age=date(1950, 6, 1))
    cy = join_by_link(f"{url}/table/{created.game}", "Cy", age=9)
    created.start()
    # then
    state = Player(http, created.game, cy.seat, cy.token).look()
    assert list(state.turn_order) == first
    assert state.seats[2].age == 9


def test_TURN_1_a_player_of_the_ai_mas_class_says_its_age(http: httpx.Client) -> None:
    class Old(TTRClient):
        age = 90

    created = CreatedGame(http, "human", "human", ruleset="europe", options={"order": "age"})
    ada = created.join("Ada", age=20)
    old = Old("Old", "", "", created.game, str(http.base_url.host), http.base_url.port or 80)
    created.start()
    assert list(ada.look().turn_order) == [old.seat.seat, ada.seat]


def test_whole_years_begin_on_the_birthday() -> None:
    born = date(1990, 6, 15)
    assert [years_on(day, born) for day in (date(2020, 6, 14), date(2020, 6, 15), date(2021, 1, 1))] == [
        29,
        30,
        30,
    ]
    assert years_on(date(2023, 3, 1), date(2020, 2, 29)) == 3


def test_a_birthday_to_come_is_refused(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human")
    with pytest.raises(ServerRefusedError, match="age"):
        join(str(http.base_url).rstrip("/"), created.game, "Ada", age=date(9000, 1, 1))


def test_a_bot_has_at_most_forty_lines() -> None:
    for example in ("bot.py", "bot.mjs", "bot.sh"):
        assert len((EXAMPLES / example).read_text().splitlines()) <= 40


@pytest.mark.parametrize("rules", ALL_RULES)
def test_the_example_plays_a_whole_game_and_is_refused_nothing(
    rules: str, http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    options = {"clock_ms": None} | (FEW_CARS if rules == "europe" else {})
    created = CreatedGame(http, "human", "random", ruleset=rules, options=options, by_invitation=True)
    [invited] = created.reply["invitations"]
    seat = join_by_link(f"{url_of(http)}/table/{created.game}#invite={invited['invitation']}&seat=0", "Ada")
    created.start()
    # when
    points = asyncio.run(play(seat))
    # then
    entries = [unpack_entry(data) for data in ledger.read_entries(created.game)]
    [ended] = [event for event in entries[-1].events if isinstance(event, GameEnded)]
    assert points == ended.scores[seat.seat].total
    assert [entry for entry in entries if entry.refusal] == []
    assert any(isinstance(entry.command, ClaimRoute) and entry.seat == seat.seat for entry in entries)


@pytest.mark.long
def test_any_legal_command_in_sixteen_lines_of_shell_plays_its_game_to_the_end(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    options = {"cars": 6, "clock_ms": None}
    created = CreatedGame(http, "human", "random", options=options, by_invitation=True)
    [invited] = created.reply["invitations"]
    bot = [str(EXAMPLES / "bot.sh"), url_of(http), created.game, invited["invitation"]]
    # when
    with Popen(bot, stdout=PIPE, text=True) as playing:
        try:
            start = f"/v1/games/{created.game}/start", bearer(created.host)
            while http.post(start[0], headers=start[1]).status_code != 200 and playing.poll() is None:
                time.sleep(0.05)  # the bot has yet to join
            printed, _ = playing.communicate(timeout=120)
        finally:
            playing.kill()
    # then
    logged = [unpack_entry(data) for data in ledger.read_entries(created.game)]
    own = [entry for entry in logged if entry.seat == invited["seat"]]
    assert own
    assert not any(entry.refusal or isinstance(entry.command, Leave) for entry in own)
    [ended] = [event for event in logged[-1].events if isinstance(event, GameEnded)]
    assert [row["total"] for row in ast.literal_eval(printed)] == [score.total for score in ended.scores]


# -- a connection that is cut --------------------------------------------------------


def play_plainly(seat: SeatToken) -> list[str]:
    """Play until the game is over; returns the ids of the commands."""
    with SeatClient(seat) as client:
        return [client.send(draw_or_first(turn)).id for turn in client]


def play_with_asyncio(seat: SeatToken) -> list[str]:
    async def run() -> list[str]:
        async with AsyncSeatClient(seat) as client:
            return [(await client.send(draw_or_first(turn))).id async for turn in client]

    return asyncio.run(run())


@pytest.mark.parametrize("played", [play_plainly, play_with_asyncio])
def test_P2_whatever_is_cut_each_command_is_decided_once(
    played: Callable[[SeatToken], list[str]], http: httpx.Client, ledger: RedisLedger
) -> None:
    # given: connections end after five messages, in every way, and every third command is lost
    seat = begun_by_kit(http, "greedy", options=FEW_CARS)
    with cutting_relay(url_of(http), 5, 4001, 0, 4002, 1001, 0) as relay:
        # when
        ids = played(seat._replace(url=relay.url))
    # then
    entries = [unpack_entry(data) for data in ledger.read_entries(seat.game)]
    decided = [entry.id for entry in entries if entry.seat == seat.seat]
    assert decided == ids
    assert relay.cuts > 4
    assert relay.commands > len(ids), "some were sent again"


def test_P2_a_command_whose_wait_was_given_up_stays_the_only_one(http: httpx.Client) -> None:
    seat = begun_by_kit(http, "greedy")

    async def run() -> None:
        async with AsyncSeatClient(seat) as client:
            turn = await client.next_turn()
            assert turn is not None
            sending = asyncio.create_task(client.send(turn.commands[0]))
            await asyncio.sleep(0)
            sending.cancel()
            await asyncio.wait([sending])
            with pytest.raises(KitError, match="has no verdict yet"):
                await client.send(turn.commands[1])
            assert await client.next_turn() is not None
            assert client.session.verdict is not None
            assert client.session.verdict.refused is None

    asyncio.run(run())


def test_P2_a_command_is_sent_again_as_it_was_and_only_when_nothing_is_left_to_read(
    http: httpx.Client,
) -> None:
    game, messages = messages_of(http)
    session = SeatSession(game, 0)
    for message in messages:
        session.receive(json.dumps(message))
    session.send(DrawBlind())
    sent = session.outgoing()
    assert sent is not None
    assert session.outgoing() is None
    problem = {"type": "problem", "id": json.loads(sent)["id"], "problem": {"status": 429, "retry_after": 2}}
    for again in ({"type": "unknown", "id": "c"}, problem):
        session.receive(json.dumps(again))
        assert session.take_pause() > 0
        assert session.outgoing() == sent
    session.send_again()
    assert session.outgoing() == sent
    session.closed(4001, "too far behind")
    assert session.outgoing() is None
    session.receive(json.dumps({**messages[0], "number": 7}))
    assert session.outgoing() is None, "entry 7 may be its verdict"
    session.closed(4002, "a fail-over")
    for message in messages:
        session.receive(json.dumps(message))
    assert session.outgoing() == sent


def test_a_client_comes_back_ever_later_at_moments_of_its_own_and_not_before_the_server_asks() -> None:
    # given
    seat = SeatToken("http://gateway", "g", 0, "token")
    busy = InvalidStatus(Response(503, "", Headers({"Retry-After": "5"})))
    client, another = AsyncSeatClient(seat), AsyncSeatClient(seat)
    # when
    pauses = [[each._pause_after(OSError()) for _ in range(12)] for each in (client, another)]
    # then
    assert pauses[0] != pauses[1]
    assert pauses[0][0] < 0.1
    assert 8 < pauses[0][-1] < 40
    assert AsyncSeatClient(seat)._pause_after(busy) >= 5
    never = InvalidStatus(Response(503, "", Headers({"Retry-After": "9" * 5_000})))
    assert AsyncSeatClient(seat, patience_s=8)._pause_after(never) <= 12
    for status in (408, 429, 502, 504):  # a server that is slow, or a proxy whose server is away
        assert client._pause_after(InvalidStatus(Response(status, "", Headers()))) > 0
    with pytest.raises(ServerRefusedError):
        client._pause_after(InvalidStatus(Response(403, "", Headers())))


# -- what is checked -----------------------------------------------------------------


def messages_of(http: httpx.Client) -> tuple[str, list[Json]]:
    """The messages of a socket to seat 0 of a game: where the log is, and six entries with proofs."""
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, "0&proofs=true") as socket:
        return ada.game, [socket.receive() for _ in range(7)]


def flipped(text: str) -> str:
    data = bytearray(b64decode(text))
    data[-1] ^= 1
    return b64encode(data).decode()


def test_P6_an_entry_that_does_not_fit_the_chain_is_not_believed(http: httpx.Client) -> None:
    game, messages = messages_of(http)
    for place in range(1, 7):
        session = SeatSession(game, 0)
        for message in messages[:place]:
            session.receive(json.dumps(message))
        forged = json.loads(json.dumps(messages[place]))
        forged["proof"]["public"] = flipped(forged["proof"]["public"])
        with pytest.raises((VerificationFailedError, CorruptDataError)):
            session.receive(json.dumps(forged))
        assert session.number == place - 1


def test_P6_the_deal_has_the_players_own_contribution(http: httpx.Client) -> None:
    game, messages = messages_of(http)
    first_head = messages[1]["head"]
    for expected, fault in (
        (("0" * 64, ""), "first entry"),
        ((first_head, "1" * 64), "contribution"),
    ):
        session = SeatSession(game, 0, expected)
        with pytest.raises(VerificationFailedError, match=fault):
            for message in messages:
                session.receive(json.dumps(message))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"type": "entry"}', '{"type": "other"}', "[" * 100_000])
def test_what_no_gateway_sends_is_an_error_of_its_own(text: str) -> None:
    with pytest.raises(CorruptDataError, match="what no gateway sends"):
        SeatSession("game", 0).receive(text)


def test_P5_a_turn_is_what_the_seats_own_view_amounts_to(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with SeatClient(find_seat(url_of(http), ada.game, ada.token)) as client:
        turn = client.next_turn()
    assert turn is not None
    assert turn.commands == ada.legal()
    assert turn.state.seats[0].own.hand == ada.state.seats[0].own.hand
    assert [seat.name for seat in turn.state.seats] == ["Ada", "Bo"]


# -- what goes wrong -----------------------------------------------------------------


def test_TURN_1_a_refused_command_has_its_rule_and_the_seat_is_asked_again(http: httpx.Client) -> None:
    seat = begun_by_kit(http, "greedy")
    with SeatClient(seat) as client:
        assert client.next_turn() is not None
        refused = client.send(DrawBlind()).refused
        turn = client.next_turn()
    assert turn is not None
    assert refused is not None
    assert turn.refused == refused
    # The bot may keep its tickets before or after it.
    events = [event for entry in entries(http, seat.game, seat.token) for event in entry["events"]]
    [logged] = [event for event in events if event["type"] == CommandRefused.type]
    assert refused.rule == logged["rule"]


def test_each_wrong_opening_has_an_error_that_says_why(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "greedy")
    url = url_of(http)
    taken = join(url, created.game, "Ada")
    cases: list[tuple[str, Callable[[], object]]] = [
        ("GAME-1: there is no game", lambda: join(url, "nowhere", "Bo")),
        ("GAME-4: every seat is taken", lambda: join(url, created.game, "Bo")),
        ("TOKEN-1: this token is the host's", lambda: find_seat(url, created.game, created.host)),
        ("TOKEN-1: this isn't a token of ours", lambda: find_seat(url, created.game, "no token")),
        ("is no link to a table", lambda: join_by_link(f"{url}/games/x", "Bo")),
        ("this isn't a token of ours", SeatClient(taken._replace(token=minted("x" * 32, created.game, 0))).next_turn),
        ("nothing was heard|doesn't answer", lambda: join("http://127.0.0.1:9", "game", "Bo", patience_s=0)),
        ("nothing was heard", SeatClient(taken._replace(url="http://127.0.0.1:9"), 0).next_turn),
    ]  # fmt: skip
    for words, ask in cases:
        with pytest.raises((ServerRefusedError, UnreachableError, KitError), match=words):
            ask()
