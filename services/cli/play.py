"""Watching games of bots from the command line: create them, follow them, show how they end."""

from __future__ import annotations

import json
import os.path
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import httpx
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from schemas.boards.form import BOARD_SCHEMA
from schemas.commands import POLICIES
from schemas.contract import Schema
from schemas.entries import ViewEntry
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.field_types import GameId, is_json_value
from services.cli.tables import console, final_score_table, game_progress, standings_table
from services.documents.board_files import read_board_file
from services.ledger import ViewFollower
from services.referee.rules import RULESETS, GameState, fold_events
from services.referee.rules.board import board_names, load_board
from services.referee.rules.proof.view_verifier import VerificationFailedError, ViewVerifier
from services.text.events import event_sentence, game_summary_json

STALL_TIMEOUT_S: Final = 30.0
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


class CommandLineError(LedgerlineError):
    """The command could not be carried out."""


def create_game_body(
    rules: str | None, seats: str, seed: str | None, board: str | None, options: Sequence[str] = ()
) -> dict[str, Any]:
    """The request that creates a game of bots. Raises Malformed, naming the option."""
    body: dict[str, Any] = {}
    if board is not None:
        body["board"], default_rules = _read_board(board)
        rules = rules or default_rules
    rules = rules or "usa"
    if rules not in RULESETS:
        raise InvalidInputError(
            "--rules", f"there is no ruleset {short_repr(rules)}; there is {', '.join(RULESETS)}"
        )
    policies = [policy.strip() for policy in seats.split(",")]
    for policy in policies:
        if policy not in POLICIES:
            raise InvalidInputError(
                "--seats", f"there is no policy {short_repr(policy)}; there is {', '.join(POLICIES)}"
            )
    body["ruleset"] = rules
    body["seats"] = [{"kind": "bot", "policy": policy} for policy in policies]
    if seed is not None:
        if not is_json_value(seed):
            raise InvalidInputError("--seed", "isn't text as UTF-8 has it")
        body["seed"] = seed
    if options:
        body["options"] = dict(_parse_option(option) for option in options)
    return body


def _read_board(board: str) -> tuple[Any, str]:
    """A board by its name, or from a file, and the ruleset that it is usually played with."""
    if board in board_names():
        return board, load_board(board).default_ruleset
    if Path(board).suffix or os.path.exists(board):  # noqa: PTH110 - Path's own raises for a name too long
        form = read_board_file(Path(board))
        return BOARD_SCHEMA.write(form, exclude_defaults=True), form.rules
    raise InvalidInputError(
        "--board", f"{short_repr(board)} is no file and no board; there is {', '.join(board_names())}"
    )


def _parse_option(option: str) -> tuple[str, Any]:
    """A figure that is set otherwise: NAME=VALUE, the value being JSON or a plain word."""
    name, equals, value = option.partition("=")
    if not equals:
        raise InvalidInputError("--option", f"{short_repr(option)} isn't NAME=VALUE, such as clock_ms=60000")
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    if not is_json_value({name: parsed}):
        raise InvalidInputError(
            "--option", f"{short_repr(option)} holds what is neither text nor a finite number"
        )
    return name, parsed


def play_games(
    url: str,
    views: ViewFollower,
    body: dict[str, Any],
    game_count: int,
    as_json: bool,
    failure_reason: Callable[[], str],
    replay_command: str,
) -> None:
    """Create games through the gateway, watch them to their ends, and print how they ended.

    `trouble` says why the house can't go on, `again` how to see a game again."""
    try:
        with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
            watched = [WatchedGame(_create_game(http, body, index)) for index in range(game_count)]
    except httpx.HTTPError as error:
        raise CommandLineError(f"the gateway doesn't answer: {error}") from None
    if as_json:
        _follow_games(views, watched, _SilentDisplay(), failure_reason)
        documents = [game.summary_json() for game in watched]
        print(
            json.dumps(
                documents[0] if len(watched) == 1 else {"games": documents}, ensure_ascii=False, indent=2
            )
        )
        return
    _follow_games(
        views,
        watched,
        _LiveDisplay(watched) if console.is_terminal else _LineDisplay(watched),
        failure_reason,
    )
    for game in watched:
        console.print(final_score_table(game.state))
        summary = f"Game {game.id}: {game.event_count} events in {game.sequence} entries."
        console.print(f"{summary} See it again: {replay_command} {game.id}", markup=False)


def _create_game(http: httpx.Client, body: dict[str, Any], index: int) -> str:
    """Create and start the nth game; each has a seed of its own that follows from the given one."""
    if "seed" in body and index:
        body = {**body, "seed": f"{body['seed']}/{index}"}
    response = http.post("/games", json=body, headers={"Idempotency-Key": secrets.token_hex(12)})
    _require_ok(response)
    game: str = response.json()["game"]
    authorization = {"Authorization": f"Bearer {response.json()['token']}"}
    _require_ok(http.post(f"/games/{game}/start", headers=authorization))
    return game


def _require_ok(response: httpx.Response) -> None:
    if response.is_server_error:
        raise CommandLineError(f"the gateway can't create games now: {response.text[:200]}")
    if response.is_error:
        problem = response.json()
        raise InvalidInputError(problem.get("rule", ""), problem.get("detail", problem["title"]))


class WatchedGame:
    """A game as the public sees it, checked and folded as far as it was read."""

    def __init__(self, game: str) -> None:
        self.id, self.state, self.view_verifier = game, GameState(), ViewVerifier(game, None)
        self.sequence = self.event_count = 0
        self.recent_sentences: deque[str] = deque(maxlen=6)

    def apply_entries(self, entries: Iterable[ViewEntry]) -> list[str]:
        """Read on; what there is to say about it. Raises Failed: it isn't to be believed."""
        sentences = []
        for entry in entries:
            try:
                self.view_verifier.verify(entry)
            except VerificationFailedError as failure:
                raise CommandLineError(
                    f"THE HOUSE IS NOT TO BE BELIEVED: game {self.id}, {failure}"
                ) from None
            fold_events(self.state, entry.at, entry.events)
            self.sequence = entry.number
            self.event_count += len(entry.events)
            sentences += [
                sentence for event in entry.events if (sentence := event_sentence(self.state, event))
            ]
        self.recent_sentences.extend(sentences)
        return sentences

    def summary_json(self) -> dict[str, Any]:
        return game_summary_json(self.state, self.event_count, self.sequence)


class _SilentDisplay:
    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _LineDisplay(_SilentDisplay):
    """Plain lines, for a file or a pipe."""

    def __init__(self, watched: Sequence[WatchedGame]) -> None:
        self.has_many_games = len(watched) > 1

    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            print(f"{game.id}  {sentence}" if self.has_many_games else sentence, flush=True)


class _LiveDisplay(_SilentDisplay):
    """A picture that is drawn anew as the game goes on."""

    def __init__(self, watched: Sequence[WatchedGame]) -> None:
        self.watched = watched
        self.live = Live(self.render(), console=console, transient=True, refresh_per_second=12)

    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None:
        self.live.update(self.render(game))

    def render(self, game: WatchedGame | None = None) -> Group:
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(40), TextColumn("{task.percentage:>3.0f} %")
        )
        done = sum(game_progress(watched.state) for watched in self.watched) / len(self.watched)
        finished = sum(bool(watched.state.result) for watched in self.watched)
        label = f"{finished} of {len(self.watched)} games over" if len(self.watched) > 1 else "playing"
        bar.add_task(label, total=100, completed=round(100 * done))
        if game is None or not game.state.game:
            return Group(bar)
        return Group(
            bar, standings_table(game.state), *(Text(sentence) for sentence in game.recent_sentences)
        )

    def __enter__(self) -> None:
        self.live.start()

    def __exit__(self, *_: object) -> None:
        self.live.stop()


def _follow_games(
    views: ViewFollower,
    watched: list[WatchedGame],
    display: _SilentDisplay,
    failure_reason: Callable[[], str],
) -> None:
    """Follow every game to its end, and the play-offs that come of them. Raises Failed when the
    house is in trouble, or a game stands still."""
    with display:
        open_games, last_progress_s = deque(watched), time.monotonic()
        while open_games:
            game = open_games.popleft()
            if entries := views.follow_view(game.id, None, game.sequence, 10 if open_games else 1000):
                display.show(game, game.apply_entries(entries))
                last_progress_s = time.monotonic()
            elif reason := failure_reason():
                raise CommandLineError(reason)
            elif time.monotonic() - last_progress_s > STALL_TIMEOUT_S:
                raise CommandLineError(f"game {game.id} has stood still for {STALL_TIMEOUT_S:g} s")
            if not game.state.result:
                open_games.append(game)
            elif game.state.next_play_off:  # a play-off for its first place
                open_games.append(WatchedGame(game.state.next_play_off.game))
                watched.append(open_games[-1])
