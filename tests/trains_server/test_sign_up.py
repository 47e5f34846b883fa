"""The sign-up: how long it waits and for whom, by a clock that the test moves."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from services.trains_server.peer_connection import LOST_S, READ_BYTES
from services.trains_server.remote_tournament import Progress, RemotePlayer
from services.trains_server.server_cases import LOOPBACK, Arrivals, CoreTables
from services.trains_server.tcp_server import MAX_UNNAMED, SignUp, SignUpRules, run_tcp_tournament

T = TypeVar("T")
TEST_S = 120.0
ELSEWHERE = "127.0.0.2"  # another machine's address, as far as the server sees


class MovedClock:
    """Time limits by a clock that stands still until the test moves it."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, str, asyncio.Future[None]]] = []
        self.changed = asyncio.Event()

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        answering = asyncio.ensure_future(answer)
        answering.add_done_callback(lambda done: done.cancelled() or done.exception())
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((limit_s, who, over))
        self.changed.set()
        try:
            await asyncio.wait((answering, over), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise TimeoutError
            return answering.result()
        finally:
            answering.cancel()
            self.waiting = [each for each in self.waiting if each[2] is not over]

    async def pass_limit(self, who: str) -> float:
        """Let the time of `who` be over, once it is waited for; how long that was."""
        while not (found := [each for each in self.waiting if each[1] == who and not each[2].done()]):
            await self.wait_for_change()
        found[0][2].set_result(None)
        return found[0][0]

    async def wait_for_change(self) -> None:
        """Until somebody else is waited for."""
        self.changed.clear()
        await self.changed.wait()


class Scene:
    """A sign-up over TCP that the test plays the players of."""

    def __init__(self, rules: SignUpRules) -> None:
        self.clock = MovedClock()
        self.arrivals = Arrivals()
        self.sign_up = SignUp(rules, self.clock, self.arrivals)
        self.writers: list[asyncio.StreamWriter] = []

    async def run(self) -> list[str]:
        """The names of those who play, once the sign-up is over."""
        server = await asyncio.start_server(self.sign_up.welcome, LOOPBACK, 0)
        self.arrivals.listen(LOOPBACK, server.sockets[0].getsockname()[1])
        players = await self.sign_up.wait()
        server.close()
        for player in self.sign_up.players:
            player.connection.cut()
        return [player.name for player in players]

    async def connect(self, data: bytes = b"", address: str = LOOPBACK) -> asyncio.StreamReader:
        """Connect from this address, and send this."""
        port = await self.arrivals.port
        reader, writer = await asyncio.open_connection(LOOPBACK, port, local_addr=(address, 0))
        self.writers.append(writer)
        writer.write(data)
        return reader

    async def sign(self, *names: str, address: str = LOOPBACK) -> list[asyncio.StreamReader]:
        """Sign these up from this address, one after the other."""
        readers = []
        for name in names:
            readers.append(await self.connect(f'"{name}"'.encode(), address))
            assert await self.arrivals.names.get() == name
        return readers


def in_scene(play: Callable[[Scene], Awaitable[None]], rules: SignUpRules | None = None) -> list[str]:
    """The names of those who play, after `play` has done what players do and moved the clock."""

    async def run() -> list[str]:
        async with asyncio.timeout(TEST_S):
            scene = Scene(rules or SignUpRules())
            sign_up = asyncio.ensure_future(scene.run())
            await play(scene)
            names = await sign_up
            for writer in scene.writers:
                writer.transport.abort()
            return names

    return asyncio.run(run())


async def is_gone(player: RemotePlayer) -> None:
    """Wait until the server has heard that a player's end is closed."""
    while not player.connection.is_gone:  # noqa: ASYNC110 - nothing tells, and the system is asked for nothing
        await asyncio.sleep(0)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Wait until the server closes the connection without a word."""
    try:
        return not await reader.read(READ_BYTES)
    except ConnectionError:
        return True


def test_five_names_within_the_first_wait_are_enough_in_the_order_of_sign_up() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Eve", "Dee", "Cyd", "Bob", "Ann")
        assert await scene.clock.pass_limit("sign-up") == 20

    assert in_scene(play) == ["Eve", "Dee", "Cyd", "Bob", "Ann"]


def test_fewer_wait_once_more_for_at_least_two() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Ann")
        await scene.clock.pass_limit("sign-up")
        await scene.sign("Bob")
        assert await scene.clock.pass_limit("sign-up") == 20

    assert in_scene(play) == ["Ann", "Bob"]


def test_with_fewer_than_two_nobody_plays_and_the_connection_is_closed() -> None:
    async def play(scene: Scene) -> None:
        reader = await scene.connect(b'"Ann"')
        await scene.arrivals.names.get()
        for _ in range(2):
            await scene.clock.pass_limit("sign-up")
        assert await is_closed(reader)

    assert in_scene(play) == []


def test_as_many_as_may_play_end_the_wait_at_once() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Ann", "Bob", "Cyd")

    assert in_scene(play, SignUpRules(max_players=3)) == ["Ann", "Bob", "Cyd"]


@pytest.mark.parametrize(
    "sent",
    [
        b'""',
        b'"A1"',
        b'"Ann Lee"',
        b'"' + b"A" * 51 + b'"',
        b'["Ann"]',
        b"Ann",
        b'"\xc3\x84nn"',
        b'"Ann"x"Bob"'[:3],
    ],
)
def test_what_is_no_name_signs_nobody_up(sent: bytes) -> None:
    async def play(scene: Scene) -> None:
        reader = await scene.connect(sent)
        if sent == b'"An':  # a cut one: it is waited for
            assert await scene.clock.pass_limit("somebody") == 3
        assert await is_closed(reader)
        await scene.sign("A" * 50, "Bob")

    assert in_scene(play, SignUpRules(max_players=2)) == ["A" * 50, "Bob"]


def test_a_name_may_stand_between_thousands_of_blanks() -> None:
    async def play(scene: Scene) -> None:
        await scene.connect(b" \n" * 50_000 + b'"Ann"' + b"\t" * 50_000)
        await scene.arrivals.names.get()
        await scene.sign("Bob")

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_a_name_that_has_signed_up_is_refused() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Ann")
        assert await is_closed(await scene.connect(b'"Ann"'))
        await scene.sign("Bob")

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_who_has_sent_no_name_when_the_sign_up_is_over_is_left_out() -> None:
    async def play(scene: Scene) -> None:
        reader = await scene.connect(b'"Late')
        await scene.sign("Ann", "Bob")
        assert await is_closed(reader)

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_connections_without_a_name_are_limited() -> None:
    async def play(scene: Scene) -> None:
        for _ in range(MAX_UNNAMED):
            await scene.connect()
        while len(scene.clock.waiting) <= MAX_UNNAMED:  # all are waited for, and the sign-up
            await scene.clock.wait_for_change()
        assert await is_closed(await scene.connect(b'"Ann"'))
        assert await scene.clock.pass_limit("somebody") == 3
        await scene.sign("Ann", "Bob")

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_fifty_names_of_one_address_leave_room_for_others() -> None:
    names = ["X" + "x" * n for n in range(49)]

    async def play(scene: Scene) -> None:
        # given
        *_, last = await scene.sign(*names, "Full", address=ELSEWHERE)
        assert await is_closed(await scene.connect(b'"More"', ELSEWHERE))
        # when
        await scene.sign("Ann", "Bob")
        # then
        assert await is_closed(last)
        assert await scene.clock.pass_limit("sign-up") == 20

    assert in_scene(play) == [*names[:48], "Ann", "Bob"]


def test_places_that_many_addresses_share_are_taken_for_good() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Ann", "Bob")
        await scene.sign("Cyd", address=ELSEWHERE)

    assert in_scene(play, SignUpRules(max_players=3, of_one_address=2)) == ["Ann", "Bob", "Cyd"]


def test_a_half_open_connection_keeps_no_place_and_no_name() -> None:
    async def play(scene: Scene) -> None:
        # given
        await scene.sign("Ann", "Bob")
        [player, _] = scene.sign_up.players
        # when
        scene.writers[0].write_eof()
        await is_gone(player)
        # then
        await scene.sign("Ann", "Cyd")

    assert in_scene(play, SignUpRules(max_players=3)) == ["Bob", "Ann", "Cyd"]


def test_who_is_gone_when_the_wait_is_over_does_not_count() -> None:
    async def play(scene: Scene) -> None:
        # given
        await scene.sign("Ann", "Bob")
        [player, _] = scene.sign_up.players
        # when
        scene.writers[0].transport.abort()
        await is_gone(player)
        # then
        await scene.clock.pass_limit("sign-up")
        await scene.clock.pass_limit("sign-up")

    assert in_scene(play) == []


def test_a_connection_that_is_lost_without_a_word_is_noticed_by_the_system() -> None:
    async def play(scene: Scene) -> None:
        await scene.sign("Ann", "Bob")
        [ann, _] = scene.sign_up.players
        connected = ann.connection._writer.get_extra_info("socket")
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) < LOST_S

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_two_hundred_connections_of_one_address_keep_nobody_else_from_the_sign_up() -> None:
    async def play(scene: Scene) -> None:
        first = await scene.connect(address=ELSEWHERE)
        for _ in range(MAX_UNNAMED - 1):
            await scene.connect(address=ELSEWHERE)
        while len(scene.clock.waiting) <= MAX_UNNAMED:
            await scene.clock.wait_for_change()
        await scene.sign("Ann", "Bob")
        assert await is_closed(first)

    assert in_scene(play, SignUpRules(max_players=2)) == ["Ann", "Bob"]


def test_without_players_the_result_is_two_empty_lists() -> None:
    async def run() -> object:
        clock = MovedClock()
        sign_up = SignUp(SignUpRules(), clock, Progress())
        tournament = asyncio.ensure_future(
            run_tcp_tournament(sign_up, CoreTables([]), lambda forms, players: forms[0], (LOOPBACK, 0))
        )
        for _ in range(2):
            await clock.pass_limit("sign-up")
        return (await tournament).protocol_json()

    assert asyncio.run(run()) == [[], []]
