"""Watching games of bots from the command line: create them, follow them, show how they end."""

from __future__ import annotations

import json
import os.path
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from reprlib import repr as brief
from typing import Any, Final

import httpx
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from schemas.boards.form import BOARD
from schemas.commands import POLICIES
from schemas.contract import Malformed, Shape
from schemas.entries import ViewEntry
from schemas.field_types import GameId, is_plain
from services.cli.tables import final_table, out, progress, standing_table
from services.documents.board_files import read_board_file
from services.ledger import RedisLedger
from services.referee.rules import RULESETS, Table, fold_events
from services.referee.rules.board import load, names
from services.referee.rules.proof.view_verifier import Betrayed, Witness
from services.text.events import document, tell

STALLED_S: Final = 30.0
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")


class Failed(Exception):
    """The command could not be carried out."""


def creation(
    rules: str | None, seats: str, seed: str | None, board: str | None, options: Sequence[str] = ()
) -> dict[str, Any]:
    """The request that creates a game of bots. Raises Malformed, naming the option."""
    body: dict[str, Any] = {}
    if board is not None:
        body["board"], usual = _board(board)
        rules = rules or usual
    rules = rules or "usa"
    if rules not in RULESETS:
        raise Malformed("--rules", f"there is no ruleset {brief(rules)}; there is {', '.join(RULESETS)}")
    policies = [policy.strip() for policy in seats.split(",")]
    for policy in policies:
        if policy not in POLICIES:
            raise Malformed("--seats", f"there is no policy {brief(policy)}; there is {', '.join(POLICIES)}")
    body["ruleset"] = rules
    body["seats"] = [{"kind": "bot", "policy": policy} for policy in policies]
    if seed is not None:
        if not is_plain(seed):
            raise Malformed("--seed", "isn't text as UTF-8 has it")
        body["seed"] = seed
    if options:
        body["options"] = dict(_option(option) for option in options)
    return body


def _board(board: str) -> tuple[Any, str]:
    """A board by its name, or from a file, and the ruleset that it is usually played with."""
    if board in names():
        return board, load(board).rules
    if Path(board).suffix or os.path.exists(board):  # noqa: PTH110 - Path's own raises for a name too long
        form = read_board_file(Path(board))
        return BOARD.write(form, brief=True), form.rules
    raise Malformed("--board", f"{brief(board)} is no file and no board; there is {', '.join(names())}")


def _option(option: str) -> tuple[str, Any]:
    """A figure that is set otherwise: NAME=VALUE, the value being JSON or a plain word."""
    name, equals, value = option.partition("=")
    if not equals:
        raise Malformed("--option", f"{brief(option)} isn't NAME=VALUE, such as clock_ms=60000")
    try:
        figure = json.loads(value)
    except (ValueError, RecursionError):
        figure = value
    if not is_plain({name: figure}):
        raise Malformed("--option", f"{brief(option)} holds what is neither text nor a finite number")
    return name, figure


def play(
    url: str,
    ledger: RedisLedger,
    body: dict[str, Any],
    games: int,
    as_json: bool,
    trouble: Callable[[], str],
    again: str,
) -> None:
    """Create games through the gateway, watch them to their ends, and print how they ended.

    `trouble` says why the house can't go on, `again` how to see a game again."""
    try:
        with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
            watched = [Watched(_create(http, body, nth)) for nth in range(games)]
    except httpx.HTTPError as error:
        raise Failed(f"the gateway doesn't answer: {error}") from None
    if as_json:
        _watch(ledger, watched, _Silent(), trouble)
        documents = [game.document() for game in watched]
        print(
            json.dumps(
                documents[0] if len(watched) == 1 else {"games": documents}, ensure_ascii=False, indent=2
            )
        )
        return
    _watch(ledger, watched, _OnTerminal(watched) if out.is_terminal else _InLines(watched), trouble)
    for game in watched:
        out.print(final_table(game.table))
        told = f"Game {game.id}: {game.events} events in {game.number} entries."
        out.print(f"{told} See it again: {again} {game.id}", markup=False)


def _create(http: httpx.Client, body: dict[str, Any], nth: int) -> str:
    """Create and start the nth game; each has a seed of its own that follows from the given one."""
    if "seed" in body and nth:
        body = {**body, "seed": f"{body['seed']}/{nth}"}
    created = http.post("/games", json=body, headers={"Idempotency-Key": secrets.token_hex(12)})
    _require_ok(created)
    game: str = created.json()["game"]
    bearer = {"Authorization": f"Bearer {created.json()['token']}"}
    _require_ok(http.post(f"/games/{game}/start", headers=bearer))
    return game


def _require_ok(reply: httpx.Response) -> None:
    if reply.is_server_error:
        raise Failed(f"the gateway can't create games now: {reply.text[:200]}")
    if reply.is_error:
        problem = reply.json()
        raise Malformed(problem.get("rule", ""), problem.get("detail", problem["title"]))


class Watched:
    """A game as the public sees it, checked and folded as far as it was read."""

    def __init__(self, game: str) -> None:
        self.id, self.table, self.witness = game, Table(), Witness(game, None)
        self.number = self.events = 0
        self.said: deque[str] = deque(maxlen=6)

    def take(self, entries: Iterable[ViewEntry]) -> list[str]:
        """Read on; what there is to say about it. Raises Failed: it isn't to be believed."""
        said = []
        for entry in entries:
            try:
                self.witness.see(entry)
            except Betrayed as betrayed:
                raise Failed(f"THE HOUSE IS NOT TO BE BELIEVED: game {self.id}, {betrayed}") from None
            fold_events(self.table, entry.at, entry.events)
            self.number = entry.number
            self.events += len(entry.events)
            said += [sentence for event in entry.events if (sentence := tell(self.table, event))]
        self.said.extend(said)
        return said

    def document(self) -> dict[str, Any]:
        return document(self.table, self.events, self.number)


class _Silent:
    def show(self, game: Watched, said: Sequence[str]) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _InLines(_Silent):
    """Plain lines, for a file or a pipe."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        self.many = len(watched) > 1

    def show(self, game: Watched, said: Sequence[str]) -> None:
        for sentence in said:
            print(f"{game.id}  {sentence}" if self.many else sentence, flush=True)


class _OnTerminal(_Silent):
    """A picture that is drawn anew as the game goes on."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        self.watched = watched
        self.live = Live(self.picture(), console=out, transient=True, refresh_per_second=12)

    def show(self, game: Watched, said: Sequence[str]) -> None:
        self.live.update(self.picture(game))

    def picture(self, game: Watched | None = None) -> Group:
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(40), TextColumn("{task.percentage:>3.0f} %")
        )
        done = sum(progress(watched.table) for watched in self.watched) / len(self.watched)
        over = sum(bool(watched.table.over) for watched in self.watched)
        label = f"{over} of {len(self.watched)} games over" if len(self.watched) > 1 else "playing"
        bar.add_task(label, total=100, completed=round(100 * done))
        if game is None or not game.table.game:
            return Group(bar)
        return Group(bar, standing_table(game.table), *(Text(sentence) for sentence in game.said))

    def __enter__(self) -> None:
        self.live.start()

    def __exit__(self, *_: object) -> None:
        self.live.stop()


def _watch(ledger: RedisLedger, watched: list[Watched], display: _Silent, trouble: Callable[[], str]) -> None:
    """Follow every game to its end, and the play-offs that come of them. Raises Failed when the
    house is in trouble, or a game stands still."""
    with display:
        open_games, moved = deque(watched), time.monotonic()
        while open_games:
            game = open_games.popleft()
            if entries := ledger.follow(game.id, None, game.number, 10 if open_games else 1000):
                display.show(game, game.take(entries))
                moved = time.monotonic()
            elif why := trouble():
                raise Failed(why)
            elif time.monotonic() - moved > STALLED_S:
                raise Failed(f"game {game.id} has stood still for {STALLED_S:g} s")
            if not game.table.over:
                open_games.append(game)
            elif game.table.called:  # a play-off for its first place
                open_games.append(Watched(game.table.called.game))
                watched.append(open_games[-1])
