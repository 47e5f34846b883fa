"""P8: the seats of one address, or of one creator's games, share a budget: who sends much waits first, and refused
commands are paid for. Everybody else plays on."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count

import pytest
import redis

from schemas.commands import write_command
from schemas.stored.codec import unpack_envelope
from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.gateway.games.client_limits import MAX_UNANSWERED, Places
from services.ledger import Delivery
from services.ledger.engine import keys
from services.referee.command_processor import CommandProcessor
from services.runtime.connection_limits import ServerLimits
from services.runtime.settings import read_settings
from tests.gateway.clients import ANSWER_S, DRAW, LEAVE, Player, Socket, begun, problem
from tests.security.test_floods import client_from, wire_from

BURST, SLOW_S = 40, 20_000  # so many at once, and a limit refills so slowly that no test sees it
EACH = MAX_UNANSWERED // 2  # of two seats, which may have no more together
MANY = EACH + 10  # of one seat: less than it may have
ADDRESSES = count(20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    settings, limits = read_settings(port=0, rate=BURST / SLOW_S), ServerLimits(burst_s=SLOW_S, answer_s=30)
    with run_embedded_server(tmp_path_factory.mktemp("budgets"), settings, limits=limits) as running:
        yield running


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server on which a seat may send as fast as it can."""
    settings, limits = read_settings(port=0, rate=10_000), ServerLimits(answer_s=30)
    with run_embedded_server(tmp_path_factory.mktemp("fast"), settings, limits=limits) as running:
        yield running


@pytest.fixture
def delivered() -> list[str]:
    """The id of each command that the referee got under `resume`: those of a game in the order of its queue."""
    return []


@pytest.fixture
def resume(monkeypatch: pytest.MonkeyPatch, delivered: list[str]) -> Iterator[threading.Event]:
    """The referee decides nothing while this event isn't set; it is, at first."""
    going, process = threading.Event(), CommandProcessor.process
    going.set()

    def waiting(self: CommandProcessor, deliveries: Sequence[Delivery]) -> None:
        delivered.extend(unpack_envelope(delivery.data).id for delivery in deliveries)
        going.wait()
        process(self, deliveries)

    monkeypatch.setattr(CommandProcessor, "process", waiting)
    yield going
    going.set()


def address() -> str:
    """An address that no other test has."""
    return f"127.0.3.{next(ADDRESSES)}"


def seats(server: EmbeddedServer, people: int = 2) -> list[Player]:
    """Seats of a game that was created from an address of its own: all choose their tickets now."""
    return begun(client_from(server, address()), people)


def socket_of(server: EmbeddedServer, player: Player, at: str) -> Socket:
    """A player's socket, from this address."""
    return Socket(player.http, player.game, player.token, 4, sock=wire_from(server, at))


def rule_of(socket: Socket, id_: str, command: object = DRAW) -> str:
    """The rule by which a command is refused; '' where it is accepted."""
    socket.send(id_, command)
    while (message := socket.next()).get("id", message.get("answers")) != id_:
        pass
    if message["type"] == "problem":
        return str(message["problem"]["rule"])
    return "".join(event.get("rule", "") for event in message["events"] if event["type"] == "command_refused")


def waiting_commands(server: EmbeddedServer) -> int:
    """How many commands are in the referees' queues."""
    assert server.settings.partitions
    with redis.Redis.from_url(server.settings.redis_url) as store:
        return sum(int(store.xlen(keys.commands(n))) for n in range(server.settings.partitions))


def waiting_senders() -> int:
    """How many sockets are read no further, as their next command waits for a place in the queues."""
    return sum(len(each.waiting) for each in gc.get_objects() if type(each) is Places)


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline_s = time.monotonic() + ANSWER_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def reached(server: EmbeddedServer, wanted: int) -> int:
    """How many commands are in the queues once there are so many."""
    until(lambda: waiting_commands(server) >= wanted)
    return waiting_commands(server)


def emptied(server: EmbeddedServer) -> None:
    """Wait until no commands are in the queues."""
    until(lambda: not waiting_commands(server))


@pytest.mark.long
def test_RATE_1_refused_commands_of_all_seats_of_an_address_are_paid_from_one_budget(
    server: EmbeddedServer,
) -> None:
    home, elsewhere = address(), address()
    ada, bo = seats(server)
    cy, dee = seats(server)
    with ExitStack() as stack:
        first, second, third = (
            stack.enter_context(socket_of(server, player, home)) for player in (ada, cy, bo)
        )
        fourth = stack.enter_context(socket_of(server, dee, elsewhere))
        # when two seats at one address send refused commands, each within its rate
        rules = [rule_of(first, f"a{n}") for n in range(BURST - 10)]
        rules += [rule_of(second, f"c{n}") for n in range(20)]
        # then what they may send together is spent
        assert rules.count("RATE-1") >= 5, rules
        first.send("more", DRAW)
        stopped = first.problem("more", 429, "RATE-1")
        assert "refused commands" in stopped["detail"] and stopped["retry_after"] >= 1
        # while a seat at that address whose commands are in order plays on, and everybody elsewhere does
        assert rule_of(third, "b", write_command(bo.legal()[0])) == ""
        assert rule_of(fourth, "d") == "TURN-3"


@pytest.mark.long
def test_RATE_1_refused_commands_over_HTTP_are_paid_for_too(server: EmbeddedServer) -> None:
    ada, bo = seats(server)
    with client_from(server, address()) as http:
        here = [Player(http, each.game, each.seat, each.token) for each in (ada, bo)]
        replies = [here[n % 2].send(DRAW) for n in range(BURST + 4)]
        assert [reply.status_code for reply in replies[-2:]] == [429, 429]
        assert "refused commands" in problem(replies[-1], 429, "RATE-1")["detail"]
    with client_from(server, address()) as http:
        assert Player(http, ada.game, 0, ada.token).send(LEAVE).status_code == 429, (
            "its game's creator's budget"
        )


@pytest.mark.parametrize("shared", ["address", "creator"])
def test_P8_an_address_and_a_creator_have_few_places_in_the_queues(
    fast: EmbeddedServer, resume: threading.Event, delivered: list[str], shared: str
) -> None:
    # given two seats at one address in games of two creators, or in one game at two addresses; and another
    home = address()
    ada, bo = seats(fast)
    cy, _ = seats(fast) if shared == "address" else (bo, ada)
    eve, _ = seats(fast)
    with ExitStack() as stack:
        opened = {
            "a": stack.enter_context(socket_of(fast, ada, home)),
            "c": stack.enter_context(socket_of(fast, cy, home if shared == "address" else address())),
        }
        other = stack.enter_context(socket_of(fast, eve, address()))
        emptied(fast)
        resume.clear()
        # when both have sent all that they may together, and the gateway is done with that
        sent = {name: [f"{name}{number}" for number in range(MANY)] for name in opened}
        for name, socket in opened.items():
            for id_ in sent[name][: EACH - 1]:
                socket.send(id_, DRAW)
            socket.send(sent[name][EACH - 1], DRAW, level="accepted")
            assert socket.next()["type"] == "acknowledged"
        assert waiting_commands(fast) == MAX_UNANSWERED
        # and each sends one more, so that it arrives alone, and then many
        for name, socket in opened.items():
            socket.send(sent[name][EACH], DRAW)
        until(lambda: waiting_senders() == len(opened) or waiting_commands(fast) > MAX_UNANSWERED)
        assert waiting_commands(fast) == MAX_UNANSWERED
        for name, socket in opened.items():
            for id_ in sent[name][EACH + 1 :]:
                socket.send(id_, DRAW)
        # then the other's command is queued at once, and theirs wait for their turn
        other.send("e", DRAW)
        assert reached(fast, MAX_UNANSWERED + 1) == MAX_UNANSWERED + 1
        resume.set()
        for name, socket in opened.items():
            unanswered = set(sent[name])
            while unanswered:
                message = socket.next()
                unanswered.discard(message.get("id") or message.get("answers"))
            # a refusal without an entry may overtake others', so their order is seen in the queue
            queued = [id_ for id_ in dict.fromkeys(delivered) if id_ in sent[name]]
            assert queued == sent[name], "in their order"


def test_P8_who_waits_for_no_verdict_keeps_its_places(fast: EmbeddedServer, resume: threading.Event) -> None:
    ada, bo = seats(fast)
    home = address()
    emptied(fast)
    resume.clear()
    # when commands are only to be accepted, or their sender leaves
    with client_from(fast, home) as http:
        for number in range(20):
            reply = Player(http, ada.game, 0, ada.token).ask(DRAW, f"a{number}", "accepted")
            assert reply.status_code == 202
    with socket_of(fast, bo, home) as socket:
        for number in range(30):
            socket.send(f"b{number}", DRAW, wait_ms=1)
        assert {socket.next()["type"] for _ in range(30)} == {"unknown"}
        for number in range(5):
            socket.send(f"c{number}", DRAW)
        reached(fast, 20 + 30 + 5)
    # then they count all the same
    with socket_of(fast, bo, home) as socket:
        for number in range(20):
            socket.send(f"d{number}", DRAW)
        assert reached(fast, MAX_UNANSWERED) == MAX_UNANSWERED
        resume.set()
        while (answered := socket.next()).get("id", answered.get("answers")) != "d19":
            pass
