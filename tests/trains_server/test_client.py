"""Our player at anybody's server: it plays by our policies, and trusts nothing that the server sends."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from threading import Thread

import pytest

from schemas.errors import InvalidInputError
from services.bots.trains.trains_strategies import HOLD_10
from services.trains.player_state import STATE as PLAYER_STATE
from services.trains_server.peer_connection import ClockLimits, PeerFailedError
from services.trains_server.protocol_calls import MAX_CALL_BYTES, read_offer, read_setup
from services.trains_server.server_cases import LOOPBACK
from services.trains_server.tcp_client import ClientAnswers, PolicyPlayer, StrategyPlayer, sign_up_and_play
from tests.cli.command_line import CommandResult, run_in_process
from tests.trains_server.peers import MAP

OFFER = [["Ash", "Bow"], ["Ash", "Cam"], ["Bow", "Cam"], ["Dee", "Esk"], ["Fen", "Gap"]]
SETUP = ["setup", [MAP, 45, ["red", "red", "red", "white"]]]
STATE = {
    "this": {"destination1": ["Ash", "Bow"], "destination2": ["Ash", "Cam"], "rails": 45,
             "cards": {"red": 8, "white": 3, "blue": 0, "green": 0}, "acquired": []},
    "acquired": [[["Ash", "Bow", "red", 3]], []],
}  # fmt: skip
WHOLE = [["start", [True]], SETUP, ["pick", [OFFER]], ["play", [STATE]], ["more", [["red", "blue"]]], ["win", [True]],
         ["end", [True]]]  # fmt: skip


@contextmanager
def scripted_server(sent: bytes, *, hangs_up: bool = True) -> Iterator[int]:
    """A server that sends this to whoever connects, whatever comes; its port."""
    with closing(socket.create_server((LOOPBACK, 0))) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with closing(connection), suppress(OSError):  # the client may reset it
                connection.sendall(sent)
                if hangs_up:
                    connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass

        thread = Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(60)
        assert not thread.is_alive()


def calls_json(calls: Sequence[object]) -> bytes:
    return b"   \n".join(json.dumps(call).encode() for call in calls)


def meet(sent: bytes, *, hangs_up: bool = True, silence_s: float = 60.0) -> ClientAnswers:
    """How Hold-10 fares with a server that sends this."""
    answers = ClientAnswers(StrategyPlayer(HOLD_10), MAP)
    with scripted_server(sent, hangs_up=hangs_up) as port:
        asyncio.run(
            sign_up_and_play(
                "Ann",
                answers.answer,
                host=LOOPBACK,
                port=port,
                time_limits=ClockLimits(),
                silence_s=silence_s,
            )
        )
    return answers


def test_a_client_answers_every_call_to_the_end() -> None:
    answers = meet(calls_json(WHOLE))
    assert (answers.games_won, answers.has_won) == ([True], True)


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_a_server_that_closes_the_connection_has_removed_the_client(place: int) -> None:
    with pytest.raises(PeerFailedError, match="closed the connection"):
        meet(calls_json(WHOLE[:place]) + b' ["pl')


def test_a_server_that_says_nothing_is_given_up() -> None:
    with pytest.raises(PeerFailedError, match=r"called for nothing within 0\.05 s"):
        meet(b" " * 1_000, hangs_up=False, silence_s=0.05)


BAD_CALLS: dict[str, bytes] = {
    "no call": b'"start"',
    "an unknown call": b'["stop", [true]]',
    "no arguments": b'["start"]',
    "an argument too many": b'["start", [true, true]]',
    "a number for a flag": b'["start", [1]]',
    "no map": b'["setup", [7, 45, []]]',
    "a card of gold": json.dumps(["setup", [MAP, 45, ["gold"]]]).encode(),
    "rails without end": json.dumps(["setup", [MAP, 10**30, []]]).encode(),
    "four destinations": json.dumps(["pick", [OFFER[:4]]]).encode(),
    "a turn before any game": json.dumps(["play", [STATE]]).encode(),
    "half a player state": calls_json([SETUP, ["play", [{"this": STATE["this"]}]]]),
    "cards as a number": calls_json([SETUP, ["more", [2]]]),
}


@pytest.mark.parametrize("bad", BAD_CALLS)
def test_a_call_that_the_protocol_does_not_have_ends_the_client(bad: str) -> None:
    with pytest.raises(InvalidInputError):
        meet(BAD_CALLS[bad])


@pytest.mark.parametrize(
    "sent", [b"[" * 1_000, b'["' + b"a" * MAX_CALL_BYTES, b"HTTP/1.1 400 Bad Request", b'["\xff"]', b"[1e5,]"]
)
def test_what_is_no_json_within_the_bounds_ends_the_client(sent: bytes) -> None:
    with pytest.raises(PeerFailedError, match=r"^sent "):
        meet(sent)


# -- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["random", "greedy", "planner", "hold-10", "buy-now"])
def test_a_policy_gives_back_three_destinations_and_acts(policy: str) -> None:
    player = PolicyPlayer(policy, "00" * 32)
    player.begin(read_setup(*SETUP[1]))
    offered = read_offer(OFFER)
    given_back = player.give_back(offered)
    assert len(set(given_back)) == 3 and set(given_back) < set(offered)
    for state in (STATE, {**STATE, "acquired": []}):
        action = player.act(PLAYER_STATE.read(state))
        assert action == "more cards" or action[0] < action[1]  # type: ignore[operator]  # a connection
        if state is STATE:
            assert action != ["Ash", "Bow", "red", 3]  # another's


def test_a_policy_plays_as_the_strategy_of_its_name() -> None:
    policy, strategy = PolicyPlayer("hold-10"), StrategyPlayer(HOLD_10)
    for player in (policy, strategy):
        player.begin(read_setup(*SETUP[1]))
    offered = read_offer(OFFER)
    assert policy.give_back(offered) == strategy.give_back(offered)
    state = PLAYER_STATE.read(STATE)
    assert policy.act(state) == strategy.act(state) == ["Ash", "Cam", "red", 4]


@pytest.mark.parametrize(
    "own",
    [
        {"destination1": ["Ash", "Zed"]},
        {"acquired": [["Ash", "Gap", "red", 3]]},
        {"cards": {"red": 250, "blue": 250}},
    ],
)
def test_a_state_that_no_game_has_is_refused_or_played(own: dict[str, object]) -> None:
    player = PolicyPlayer("planner")
    player.begin(read_setup(*SETUP[1]))
    state = PLAYER_STATE.read({**STATE, "this": {**STATE["this"], **own}})  # type: ignore[dict-item]
    if "cards" in own:
        assert player.act(state)
    else:
        with pytest.raises(InvalidInputError):
            player.act(state)


# -- the command ---------------------------------------------------------------------------------


def trains_client(port: int, *words: str) -> CommandResult:
    return run_in_process("trains-client", LOOPBACK, str(port), *words)


def test_the_command_says_how_the_tournament_ended() -> None:
    with scripted_server(calls_json(WHOLE)) as port:
        done = trains_client(port, "--name", "Ann")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Ann won the tournament, and won 1 of its 1 games.\n"
    with scripted_server(calls_json([*WHOLE[:-1], ["end", [False]]])) as port:
        done = trains_client(port, "--policy", "buy-now", "--json")
    assert json.loads(done.stdout) == {"won": False, "games": 1, "games_won": 1}


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"", "the server closed the connection; that is how it removes a player"),
        (b'["\x1b[2J", []]', "the server sent what isn't JSON"),
        (b'["stop\\u001b", []]', "the server breaks the protocol: call: must be one of start"),
    ],
)
def test_the_command_names_what_the_server_did_and_exits_with_1(sent: bytes, why: str) -> None:
    with scripted_server(sent) as port:
        done = trains_client(port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ledgerline: {why}")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--policy", "genius"], "--policy"), (["--name", "R2D2"], "name"), (["--map", "/nowhere"], "/nowhere")],
)
def test_a_wrong_option_is_named_before_anybody_is_called(words: list[str], named: str) -> None:
    done = trains_client(1, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("ledgerline: ") and named in done.stderr


def test_a_server_that_is_not_there_is_named() -> None:
    with closing(socket.create_server((LOOPBACK, 0))) as listening:
        port = listening.getsockname()[1]
    done = trains_client(port)
    assert done.returncode == 1
    assert f"{LOOPBACK}:{port} can't be reached: " in done.stderr
