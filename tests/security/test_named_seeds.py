"""A seed that is named can be guessed: who guesses it must not know a card of a table with people."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from schemas.events import DeckShuffled, Event, HandDealt, SeedSealed
from schemas.stored.codec import unpack_entry
from services.referee.games.shuffle import commit_to_seed, seed_from_text
from tests.cli.command_line import run_in_process
from tests.deploy.compose import ROOT, wait_until
from tests.gateway.clients import LEAVE, CreatedGame, Player, bearer
from tests.security.conftest import WholeServer

NAME = "friday"


def events(whole: WholeServer, game: str) -> list[Event]:
    return [event for data in whole.ledger.read_entries(game) for event in unpack_entry(data).events]


def started(whole: WholeServer, *seats: str) -> tuple[str, list[Player]]:
    """A game of the named seed, and its people."""
    created = CreatedGame(whole.http, *seats, seed=NAME, options={"cars": 8})
    players = [created.join(f"Player {n}") for n in range(seats.count("human"))]
    created.start()
    return created.game, players


def dealt(whole: WholeServer, game: str) -> list[tuple[str | None, ...]]:
    """The deck as it was shuffled first, and the hands."""
    shuffles = [event.order for event in events(whole, game) if isinstance(event, DeckShuffled)]
    return shuffles[:1] + [event.cards for event in events(whole, game) if isinstance(event, HandDealt)]


def test_P5_who_guesses_the_name_of_a_seed_knows_no_card_where_a_person_sits(whole: WholeServer) -> None:
    games = [
        started(whole, *seats)[0] for seats in (("human", "greedy"), ("human", "greedy"), ("human", "human"))
    ]
    for game in games:
        [sealed] = [event for event in events(whole, game) if isinstance(event, SeedSealed)]
        assert sealed.commitment != commit_to_seed(seed_from_text(NAME))
        assert (sealed.given, sealed.seed == seed_from_text(NAME)) == (False, False)
        assert NAME.encode() not in b"".join(whole.ledger.read_entries(game))
    assert dealt(whole, games[0]) != dealt(whole, games[1])


def test_P6_a_players_own_bytes_count_where_a_seed_was_named(whole: WholeServer) -> None:
    created, mine = CreatedGame(whole.http, "human", "human", seed=NAME), "5f" * 32
    body = {"name": "Ada", "contribution": mine}
    taken = whole.http.post(f"/v1/games/{created.game}/join", json=body)
    assert taken.status_code == 200
    view = whole.http.get(f"/v1/games/{created.game}/view", headers=bearer(created.host)).json()
    [event] = view["entries"][-1]["events"]
    assert (event["contribution"], event["by"]) == (mine, "seat")


def test_P6_the_file_of_such_a_game_is_verified_by_both_verifiers(whole: WholeServer, tmp_path: Path) -> None:
    game, [ada] = started(whole, "human", "greedy")
    assert ada.send(LEAVE).status_code == 200
    wait_until(lambda: ada.look().result)
    file = tmp_path / "game.ledgerline"
    for words in (("export", game, str(file)), ("audit", game), ("verify", str(file))):
        result = run_in_process(*words, data=whole.data)
        assert result.returncode == 0, result.stdout + result.stderr
    verifier = [sys.executable, str(ROOT / "deploy" / "verify_game.py"), str(file)]
    done = subprocess.run(verifier, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_P4_games_of_bots_alone_are_dealt_alike_by_the_name_of_their_seed(whole: WholeServer) -> None:
    first, second = (started(whole, "random", "random")[0] for _ in range(2))
    wait_until(lambda: dealt(whole, first) and dealt(whole, second))
    assert dealt(whole, first) == dealt(whole, second)
    [sealed] = [event for event in events(whole, first) if isinstance(event, SeedSealed)]
    assert (sealed.given, sealed.seed) == (True, seed_from_text(NAME))
