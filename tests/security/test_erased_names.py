"""A name that was erased is nowhere any more: no key of the engine, no file, no line, no answer has it; all proofs hold."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from services.archive import Archive, decode_game_file
from services.ledger.engine.connection import connect
from tests.cli.command_line import CommandResult, run_in_process
from tests.deploy.compose import wait_until
from tests.gateway.clients import CreatedGame, Player, Socket, bearer, new_id, problem
from tests.gateway.test_play_off import QUICK, seated_again
from tests.security.captured_logging import logging_to
from tests.security.conftest import WholeServer
from tests.verification.proof.given import verify_game

NAME: Final = "Xanthippa Quill"  # in no other text
OTHER: Final = "Bartholomew"


class NamedGame(NamedTuple):
    """A game that ended in a tie, its play-off and its fork, with one person in all of them."""

    whole: WholeServer
    player: Player
    other: Player
    play_off: Player
    fork: str
    log_lines: StringIO


def tied_game(http: httpx.Client) -> tuple[Player, Player]:
    created = CreatedGame(http, "human", "human", visibility="public", **QUICK)
    player = created.join(NAME)
    again = http.post(
        f"/v1/games/{created.game}/join", json={"name": NAME}, headers={"Idempotency-Key": new_id()}
    )
    problem(again, 409, "GAME-4")
    other = created.join(OTHER)
    created.start()
    while not player.look().result:
        for each in (player, other):
            if choices := each.legal():
                each.do(choices[0])
    return player, other


@pytest.fixture(scope="module")
def named(whole: WholeServer) -> Iterator[NamedGame]:
    lines = StringIO()
    with logging_to(lines, "json", "debug"):
        player, other = tied_game(whole.http)
        forked = whole.http.post(
            f"/v1/games/{player.game}/forks", json={"at": 6}, headers=bearer(player.token)
        )
        assert forked.status_code == 201, forked.text
        yield NamedGame(whole, player, other, seated_again(player), forked.json()["game"], lines)


@pytest.fixture(scope="module")
def erased(named: NamedGame) -> NamedGame:
    """The same after the person's name was erased."""
    archive, game = Archive((named.whole.data / "archive").as_uri()), named.player.game
    wait_until(lambda: archive.read_names(game) is not None)
    shown = dict(answers(named))
    assert [place for place, text in shown.items() if NAME in text] == list(shown)
    before = cli(named, "person", "export", NAME)
    assert {seat["game"] for seat in json.loads(before.stdout)["seats"]} >= {game, named.play_off.game}
    done = cli(named, "person", "erase", NAME, "--yes")
    assert "2 seats in 2 games" in done.stdout
    return named


def cli(named: NamedGame, *words: str) -> CommandResult:
    result = run_in_process(*words, data=named.whole.data)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def answers(named: NamedGame) -> Iterator[tuple[str, str]]:
    """What shows the name to whom it may concern, while it is there."""
    http, player = named.whole.http, named.player
    for token, whose in ((None, "public"), (player.token, "own"), (named.other.token, "other's")):
        yield f"{whose} view", http.get(f"/v1/games/{player.game}/view", headers=bearer(token)).text
        table = http.get(f"/v1/games/{player.game}/state", headers=bearer(token))
        assert table.status_code == 200, table.text
        yield f"{whose} table", table.text
    yield "play-off", http.get(f"/v1/games/{named.play_off.game}/view").text
    yield "list of tables", http.get("/v1/games").text
    with Socket(http, player.game, player.token) as socket:
        yield "socket", json.dumps(socket.read(4))
    page, file = named.whole.data / "page.html", named.whole.data / "game.ledgerline"
    yield "games", cli(named, "games", "--json").stdout
    yield "replay", cli(named, "replay", player.game).stdout
    yield "replay as JSON", cli(named, "replay", player.game, "--json").stdout
    yield "replay of a seat", cli(named, "replay", player.game, "--as", "1").stdout
    yield "audit", cli(named, "audit", player.game, "--at", "4", "--html", str(page)).stdout
    yield "page", page.read_text()
    cli(named, "export", player.game, str(file), "--force")
    yield "file", decode_game_file(file.read_bytes()).names.decode("latin-1")
    yield "audit of the file", cli(named, "audit", str(file), "--at", "4", "--json").stdout


def keys_of_engine(whole: WholeServer) -> Iterator[tuple[str, bytes]]:
    """Every key with all that it holds."""
    reads: dict[bytes, Callable[[Any, bytes], object]] = {
        b"stream": lambda client, key: client.xrange(key),
        b"hash": lambda client, key: client.hgetall(key),
        b"string": lambda client, key: client.get(key),
        b"zset": lambda client, key: client.zrange(key, 0, -1),
        b"set": lambda client, key: client.smembers(key),
        b"list": lambda client, key: client.lrange(key, 0, -1),
    }
    with closing(connect(whole.running.settings.redis_url)) as client:
        untyped: Any = client
        for key in untyped.scan_iter(count=1_000):
            kind = untyped.type(key)
            if kind != b"none":
                yield key.decode(), repr(reads[kind](untyped, key)).encode()


def archive_files(data: Path) -> Iterator[tuple[str, bytes]]:
    for path in (data / "archive").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield (
                path.name,
                b"".join(decode_game_file(content).entries) if path.suffix == ".ledgerline" else content,
            )


def test_the_name_is_shown_until_it_is_erased_and_then_nowhere(erased: NamedGame) -> None:
    shown = dict(answers(erased))
    assert [place for place, text in shown.items() if NAME in text] == []
    unnamed = [place for place, text in shown.items() if "a player" not in text and place != "file"]
    assert unnamed == []
    assert [place for place, text in shown.items() if OTHER not in text] == []


def test_no_key_of_the_engine_holds_it(erased: NamedGame) -> None:
    found = dict(keys_of_engine(erased.whole))
    assert len(found) > 20
    assert [key for key, content in found.items() if NAME.encode() in content] == []
    assert any(OTHER.encode() in content for content in found.values())


def test_no_file_of_the_archive_and_no_line_of_a_log_holds_it(erased: NamedGame) -> None:
    found = dict(archive_files(erased.whole.data))
    assert [file for file, content in found.items() if NAME.encode() in content] == []
    assert f"{erased.player.game}.names" in found
    lines = erased.log_lines.getvalue()
    assert "seat_taken" in lines
    assert NAME not in lines
    assert OTHER not in lines


def test_the_engines_own_file_loses_it_with_the_next_rewrite(erased: NamedGame) -> None:
    def is_gone() -> bool:
        files = (erased.whole.data / "appendonlydir").glob("*")
        return all(NAME.encode() not in path.read_bytes() for path in files if path.exists())

    wait_until(is_gone)


def test_P6_every_proof_is_whole_without_it(erased: NamedGame, tmp_path: Path) -> None:
    file = tmp_path / "game.ledgerline"
    cli(erased, "export", erased.player.game, str(file))
    cli(erased, "verify", str(file))
    assert verify_game.verify(file.read_bytes())["good"]
    for what in (erased.player.game, str(file), erased.play_off.game, erased.fork):
        assert "isn't as it should be" not in cli(erased, "audit", what).stdout


def test_the_answer_to_a_dispute_says_seats_and_no_names(erased: NamedGame) -> None:
    http, player = erased.whole.http, erased.other
    body = {"number": 2, "reason": "Who is that?"}
    raised = http.post(f"/v1/games/{player.game}/disputes", json=body, headers=bearer(player.token))
    assert raised.status_code == 202, raised.text
    address = raised.json()["address"]
    wait_until(lambda: http.get(address, headers=bearer(player.token)).json()["final"])
    answer = http.get(address, headers=bearer(player.token)).text
    assert NAME not in answer
    assert OTHER not in answer


def test_bytes_of_proofs_never_held_it(named: NamedGame) -> None:
    reply = named.whole.http.get(f"/v1/games/{named.player.game}/view", params={"proofs": "true"})
    proofs = [b64decode(entry["proof"]["public"]) for entry in reply.json()["entries"]]
    assert [data for data in proofs if OTHER.encode() in data or NAME.encode() in data] == []


def test_who_follows_a_game_is_shown_each_name_as_it_comes(whole: WholeServer) -> None:
    created = CreatedGame(whole.http, "human", "human")
    with Socket(whole.http, created.game) as socket:
        socket.read(1)
        for name in ("Ada", "Bo"):
            created.join(name)
            [entry] = socket.read(1)
            assert [event["name"] for event in entry["events"]] == [name]
