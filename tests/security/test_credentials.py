"""Another seat taken: everything that anybody is shown of a game is tried as a credential, everywhere."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from schemas.commands import CommandEnvelope, TakeSeat
from schemas.stored.codec import unpack_entry
from services.archive import decode_game_file
from tests.cli.command_line import run_in_process
from tests.deploy.compose import wait_until
from tests.gateway.clients import CreatedGame, Player, bearer, new_id, plan, problem
from tests.gateway.test_play_off import QUICK, seated_again
from tests.long_runs import short_and_long
from tests.process_faults.seeds import SOAK
from tests.security.captured_logging import logging_to
from tests.security.conftest import WholeServer

ADA_JOINED: Final = 2  # the number of that entry
CANDIDATE: Final = re.compile(r"[A-Za-z0-9._:~+/=-]{8,200}")


class PlayedGame(NamedTuple):
    """A game that ended in a tie, the play-off that runs, and the secrets of all who are not Bo."""

    ada: Player
    bo: Player
    play_off: Player  # Bo's seat there
    secrets: Mapping[str, str]
    log_lines: str  # of all services meanwhile, every level


def join(http: httpx.Client, game: str, key: str, name: str = "Ada", **more: object) -> httpx.Response:
    return http.post(f"/v1/games/{game}/join", json={"name": name, **more}, headers={"Idempotency-Key": key})


def play_to_the_end(whole: WholeServer) -> PlayedGame:
    """Ada and Bo tie; each answer that Ada got holds her secrets, and nothing that Bo may read does."""
    keys = {name: new_id() for name in ("creation", "Ada's join", "start")}
    http = whole.http
    body = {"seats": [plan("human")] * 2, "by_invitation": True, **QUICK}
    created = http.post("/v1/games", json=body, headers={"Idempotency-Key": keys["creation"]}).json()
    game = created["game"]
    keys["Ada's invitation"], to_bo = (each["invitation"] for each in created["invitations"])
    joined = join(http, game, keys["Ada's join"], invitation=keys["Ada's invitation"]).json()
    players = [Player(http, game, joined["seat"], joined["token"])]
    joined = join(http, game, new_id(), "Bo", invitation=to_bo).json()
    players.append(Player(http, game, joined["seat"], joined["token"]))
    start = bearer(created["token"]) | {"Idempotency-Key": keys["start"]}
    assert http.post(f"/v1/games/{game}/start", headers=start).status_code == 200
    while not players[0].look().result:
        for player in players:
            if choices := player.legal():
                player.do(choices[0])
    ada, bo = players
    secrets = {**keys, "host": created["token"], "Ada": ada.token, "Ada's play-off": seated_again(ada).token}
    return PlayedGame(ada, bo, seated_again(bo), secrets, "")


@pytest.fixture(scope="module")
def played(whole: WholeServer) -> Iterator[PlayedGame]:
    lines = StringIO()
    with logging_to(lines, "json", "debug"):
        game = play_to_the_end(whole)
    yield game._replace(log_lines=lines.getvalue())


def disputed(bo: Player, *numbers: int) -> str:
    """The answers to Bo's disputes of these entries, final ones where the game is over."""
    for number in numbers:
        body = {"number": number, "reason": "Who is that?"}
        raised = bo.http.post(f"/v1/games/{bo.game}/disputes", json=body, headers=bearer(bo.token))
        assert raised.status_code == 202, raised.text
    listed = bo.http.get(f"/v1/games/{bo.game}/disputes", headers=bearer(bo.token)).json()["disputes"]

    def answers() -> list[Any]:
        return [bo.http.get(each["address"], headers=bearer(bo.token)) for each in listed]

    wait_until(lambda: all(answer.json()["state"] == "answered" for answer in answers()))
    assert all(answer.json()["final"] == bool(bo.look().result) for answer in answers())
    return "".join(answer.text for answer in answers())


def views(bo: Player) -> Iterator[str]:
    """Bo's view and the public one, with the bytes of their proofs."""
    for token in (None, bo.token):
        reply = bo.http.get(f"/v1/games/{bo.game}/view", params={"proofs": "true"}, headers=bearer(token))
        yield reply.text
        for entry in reply.json()["entries"]:
            for data in filter(None, entry["proof"].values()):
                yield b64decode(data).decode("latin-1")


def printed(whole: WholeServer, game: str, folder: Path) -> Iterator[str]:
    """What commands print of the game, and the file that anybody may be sent."""
    page, file = folder / "page.html", folder / "game.ledgerline"
    for words in (
        ("audit", game, "--json"),
        ("audit", game, "--at", str(ADA_JOINED), "--json"),
        ("audit", game, "--at", str(ADA_JOINED), "--html", str(page)),
        ("replay", game, "--json"),
        ("export", game, str(file)),
        ("disputes", "--json"),
    ):
        result = run_in_process(*words, data=whole.data)
        assert result.returncode == 0, result.stderr
        yield result.stdout + result.stderr
    yield page.read_text()
    for data in decode_game_file(file.read_bytes()).entries:
        yield data.decode("latin-1")


def shown_texts(whole: WholeServer, played: PlayedGame, folder: Path) -> str:
    """Every byte that Bo, an arbiter, or who is sent a file of the game is shown of it."""
    bo = played.bo
    texts = [disputed(played.play_off, 1), *views(played.play_off)]
    texts += [disputed(bo, 1, ADA_JOINED), *views(bo)]
    texts += printed(whole, bo.game, folder)
    texts += [join(whole.http, bo.game, new_id(), "Eve").text, whole.http.get("/v1/games").text]
    return "\n".join([*texts, played.log_lines])


def assert_opens_nothing(http: httpx.Client, candidate: str, games: tuple[str, ...]) -> None:
    for game in games:
        reply = http.get(f"/v1/games/{game}/view", headers=bearer(candidate))
        assert reply.status_code == 401, f"{candidate} is read as a token: {reply.text[:200]}"
        for more in ({}, {"invitation": candidate}):
            reply = join(http, game, candidate, "Eve", **more)
            assert not reply.is_success, f"{candidate} takes a seat: {reply.text}"


@pytest.mark.parametrize("most", short_and_long(30, 1_000_000 if SOAK else 200))
def test_TOKEN_1_nothing_that_is_shown_of_a_game_opens_a_seat(
    whole: WholeServer, played: PlayedGame, tmp_path: Path, most: int
) -> None:
    shown = shown_texts(whole, played, tmp_path)
    assert [name for name, secret in played.secrets.items() if secret in shown] == []

    logged = {unpack_entry(data).id for data in whole.ledger.read_entries(played.bo.game)}
    candidates = set(CANDIDATE.findall(shown)) | logged
    assert len(candidates) > 150
    likeliest = sorted(candidates, key=lambda text: (text not in logged, "hmac" not in text, text))
    for candidate in likeliest[:most]:
        assert_opens_nothing(whole.http, candidate, (played.bo.game, played.play_off.game))


def test_TOKEN_1_a_join_is_answered_with_its_token_until_the_game_is_over(
    whole: WholeServer, played: PlayedGame
) -> None:
    created = CreatedGame(whole.http, "human", "human")
    key = new_id()
    tokens = {join(whole.http, created.game, key).json()["token"] for _ in range(2)}
    assert len(tokens) == 1

    secrets = played.secrets
    reply = join(whole.http, played.ada.game, secrets["Ada's join"], invitation=secrets["Ada's invitation"])

    body = problem(reply, 409, "GAME-3")
    assert (body["id"], body["level"]) == (played.secrets["Ada's join"], "rejected")
    assert "token" not in body


def test_TOKEN_1_the_id_in_a_log_is_no_key(whole: WholeServer) -> None:
    created = CreatedGame(whole.http, "human", "human")
    created.join("Ada")
    logged = unpack_entry(whole.ledger.read_entries(created.game)[-1]).id
    problem(join(whole.http, created.game, logged, "Eve"), 422, "SHAPE-1", "Idempotency-Key")
    problem(
        join(whole.http, created.game, logged.removeprefix("hmac:")[:15], "Eve"),
        422,
        "SHAPE-1",
        "Idempotency-Key",
    )


def test_TOKEN_1_a_join_in_a_log_of_an_open_id_is_found_by_its_key_which_no_explanation_shows(
    whole: WholeServer, tmp_path: Path
) -> None:
    created, key = CreatedGame(whole.http, "human", "human"), new_id()
    whole.ledger.submit(CommandEnvelope(key, created.game, None, TakeSeat("Ada")))
    wait_until(lambda: len(whole.ledger.read_entries(created.game)) == 2)

    joined = join(whole.http, created.game, key).json()

    assert (joined["seat"], joined["number"]) == (0, 2)
    page = tmp_path / "page.html"
    words = ("audit", created.game, "--at", "2", "--open")
    for more in (("--json",), ("--html", str(page))):
        result = run_in_process(*words, *more, data=whole.data)
        assert result.returncode == 0, result.stderr
        assert key not in result.stdout + result.stderr
    assert key not in page.read_text()
