"""Watchers of games over WebSockets, who come back whenever a socket ends, as docs/reference/acknowledgements.md tells clients to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

import httpx
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.chaos.recording import Record
from tests.gateway.clients import Socket

BEGIN_ANEW: Final = 4002
FOLLOWERS: Final = 2
LISTEN_S: Final = 0.5


class Followers:
    """Each follows a game of the players to its end, then another."""

    def __init__(self, url: str, record: Record) -> None:
        self.url, self.record = url, record
        self.entries: dict[str, list[int]] = {}  # by game: the numbers that a follower was sent
        self.reconnects = 0
        self._ended = Event()

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow until the end of the block."""
        threads = [Thread(target=self._follow_games, name="follower") for _ in range(FOLLOWERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()

    def _follow_games(self) -> None:
        with httpx.Client(base_url=self.url, trust_env=False) as http:
            while not self._ended.is_set():
                game = next((each for each in sorted(self.record.games) if each not in self.entries), None)
                if game is None:
                    self._ended.wait(0.1)
                    continue
                self.entries[game] = []
                self._retry(lambda game=game: self._follow(http, game))  # type: ignore[misc]

    def _retry(self, follow: Callable[[], bool]) -> None:
        """Come back until the game is over, or the run."""
        while not self._ended.is_set():
            try:
                if follow():
                    return
            except (WebSocketException, OSError, TimeoutError):
                self.reconnects += 1
                time.sleep(0.1)

    def _follow(self, http: httpx.Client, game: str) -> bool:
        """Whether the game is over."""
        numbers = self.entries[game]
        token = self.record.authorizations[game].removeprefix("Bearer ")
        try:
            with Socket(http, game, token, after=len(numbers)) as socket:
                while not self._ended.is_set():
                    try:
                        message = socket.receive(LISTEN_S)
                    except TimeoutError:
                        continue
                    if message["type"] == "problem":
                        numbers.clear()  # what it knows is beyond the end
                    if message["type"] == "entry":
                        numbers.append(message["number"])
                        if any(event["type"] == "game_ended" for event in message["events"]):
                            return True
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code == BEGIN_ANEW:
                numbers.clear()
            raise
        return False
