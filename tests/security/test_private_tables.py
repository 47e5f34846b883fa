"""Tables that aren't for everybody: who isn't invited takes no seat, and who may not watch sees nothing, or sees it late."""

from __future__ import annotations

import time
from typing import Any, Final

import httpx
import pytest

from schemas.web.tokens import DAY_S, Invitation, TokenKeys
from services.archive import Archive
from services.gateway.games import game_creations
from tests.deploy.compose import wait_until
from tests.gateway.clients import (
    DRAW,
    CreatedGame,
    Json,
    Player,
    Socket,
    bearer,
    closed,
    entries,
    in_turn,
    listed_games,
    minted,
    new_id,
    numbers,
    problem,
)
from tests.gateway.test_play_off import QUICK
from tests.security.conftest import WholeServer

DELAY: Final = 3
PLAYERS_ONLY: Final[Json] = {"visibility": "players"}
INVITED: Final[Json] = {"by_invitation": True}


@pytest.fixture
def http(whole: WholeServer) -> httpx.Client:
    return whole.http


def invitations(created: Json) -> dict[int, str]:
    """By seat, as the host is given them."""
    return {each["seat"]: each["invitation"] for each in created["invitations"]}


def join(http: httpx.Client, game: str, **body: object) -> httpx.Response:
    return http.post(f"/v1/games/{game}/join", json={"name": "Ada", **body})


def view(http: httpx.Client, game: str, token: str | None = None, after: int = 0) -> httpx.Response:
    return http.get(f"/v1/games/{game}/view", params={"after": after}, headers=bearer(token))


def fork(http: httpx.Client, game: str, at: int, token: str | None = None) -> httpx.Response:
    return http.post(f"/v1/games/{game}/forks", json={"at": at}, headers=bearer(token))


def play_out(*players: Player) -> None:
    """Play to the end of the game."""
    while not players[0].look().result:
        for player in players:
            if choices := player.legal():
                player.do(choices[0])


# -- who may watch -----------------------------------------------------------------------------


def test_a_game_is_unlisted_unless_its_creator_says_otherwise(http: httpx.Client) -> None:
    games = {
        visibility: CreatedGame(http, "human", "human", visibility=visibility).game
        for visibility in ("public", "unlisted", "players", None)
    }
    listed = listed_games(http)
    assert {visibility for visibility, game in games.items() if game in listed} == {"public"}
    assert [entry["number"] for entry in entries(http, games[None], None)] == [1]  # to who knows its id


def test_TOKEN_1_who_holds_no_token_of_a_players_game_is_shown_nothing_of_it(http: httpx.Client) -> None:
    ada, bo = in_turn(http, **PLAYERS_ONLY)
    for token, status in ((None, 401), (minted("f" * 32, ada.game, 0), 401), (in_turn(http)[0].token, 403)):
        problem(view(http, ada.game, token), status, "TOKEN-1")
        problem(fork(http, ada.game, 4, token), status, "TOKEN-1")
        with Socket(http, ada.game, token) as socket:
            socket.problem(None, status, "TOKEN-1")
            assert closed(socket) == 1008
    assert len(entries(http, ada.game, ada.token)) == len(entries(http, ada.game, bo.token)) > 4


def test_TOKEN_1_the_host_of_a_players_game_sees_what_all_players_may(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human", **PLAYERS_ONLY)
    ada, _ = created.join("Ada"), created.join("Bo")
    created.start()
    assert view(http, ada.game, created.host).json()["viewer"] == "public"


def test_TOKEN_1_a_players_game_is_for_its_players_in_the_archive_too(
    whole: WholeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        game_creations, "KEPT_S", -1.0
    )  # what the gateway read of it in the engine is forgotten
    players = in_turn(whole.http, **PLAYERS_ONLY, **QUICK)
    play_out(*players)
    game, archive = players[0].game, Archive(whole.running.settings.archive_url or "")
    wait_until(lambda: archive.has(game))
    length = len(whole.ledger.read_entries(game))
    assert whole.ledger.evict(game, 2, length)
    problem(view(whole.http, game), 401, "TOKEN-1")
    problem(fork(whole.http, game, 4), 401, "TOKEN-1")
    with Socket(whole.http, game) as socket:
        socket.problem(None, 401, "TOKEN-1")
    assert len(entries(whole.http, game, players[0].token)) == length


# -- who may take a seat -------------------------------------------------------------------------


def test_TOKEN_1_a_seat_is_taken_only_with_its_invitation(whole: WholeServer) -> None:
    http = whole.http
    created = CreatedGame(http, "human", "human", "random", **INVITED)
    invited, others = invitations(created.reply), invitations(CreatedGame(http, "human", "human").reply)
    assert list(invited) == [0, 1]
    key = whole.running.settings.token_key.get_secret_value().encode()
    mint = TokenKeys(key).mint_invitation
    not_invitations: dict[Any, int] = {
        None: 401,
        "": 401,
        created.host: 401,
        minted(key, created.game, 1): 401,
        others[1]: 403,
        TokenKeys(b"f" * 32).mint_invitation(Invitation(created.game, 1, 1 << 40)): 401,
        mint(Invitation(created.game, 1, int(time.time()) - 1)): 401,
        invited[1].replace("lli1", "ll1"): 401,
        ".".join((*invited[1].split(".")[:3], invited[0].split(".")[3])): 401,  # the signature of another
    }
    for text, status in not_invitations.items():
        problem(join(http, created.game, invitation=text), status, "TOKEN-1")
    problem(join(http, created.game, invitation=invited[1], seat=0), 403, "TOKEN-1")
    problem(join(http, created.game, invitation=7), 422, "SHAPE-1", "invitation")
    assert len(whole.ledger.read_entries(created.game)) == 1
    joined = join(http, created.game, invitation=invited[1])
    assert (joined.status_code, joined.json()["seat"]) == (200, 1)
    problem(join(http, created.game, invitation=invited[1], name="Eve"), 409, "GAME-4")


def test_TOKEN_1_an_invitation_opens_nothing_but_its_seat(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human", **INVITED, **PLAYERS_ONLY)
    invitation, path = invitations(created.reply)[0], f"/v1/games/{created.game}"
    join(http, created.game, invitation=invitation)
    assert view(http, created.game, invitation).status_code == 401
    for call in ("start", "withdraw-token", "play-off", "forks", "commands", "disputes"):
        reply = http.post(f"{path}/{call}", json={"at": 1, "type": "pass"}, headers=bearer(invitation))
        assert reply.status_code in (401, 404), call


def test_TOKEN_1_the_same_join_gives_the_same_seat_again(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human", **INVITED)
    body, key = {"name": "Ada", "invitation": invitations(created.reply)[1]}, {"Idempotency-Key": new_id()}
    first, again = (http.post(f"/v1/games/{created.game}/join", json=body, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert first.json()["seat"] == 1


def test_no_log_and_no_view_holds_an_invitation(whole: WholeServer) -> None:
    created = CreatedGame(whole.http, "human", "human", **INVITED)
    invited = invitations(created.reply)
    for seat, invitation in invited.items():
        assert join(whole.http, created.game, name=f"P{seat}", invitation=invitation).status_code == 200
    shown = b"".join(whole.ledger.read_entries(created.game)) + view(whole.http, created.game).content
    for invitation in invited.values():
        for piece in (invitation, *invitation.split(".")[2:]):
            assert piece.encode() not in shown


# -- spectators see it late ------------------------------------------------------------------------


def test_P5_the_public_view_is_late_until_the_game_is_over(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human", spectator_delay=DELAY, **QUICK)
    assert numbers(entries(http, created.game, None)) == [1]  # the creation is shown at once
    ada, bo = created.join("Ada"), created.join("Bo")
    created.start()
    length = 3
    while not ada.look().result:
        length = ada.number
        for token in (None, created.host):
            assert numbers(entries(http, ada.game, token)) == [*range(1, max(1, length - DELAY) + 1)]
            assert view(http, ada.game, token, after=length - 1).json()["entries"] == []
        assert numbers(entries(http, ada.game, bo.token)) == [*range(1, length + 1)]
        player = next(player for player in (ada, bo) if player.legal())
        player.do(player.legal()[0])
    assert numbers(entries(http, ada.game, None)) == [*range(1, length + 2)]


def require_silence(spectator: Socket) -> None:
    """Assert that nothing waits for this spectator: the next message is the answer to what it sends."""
    spectator.send("anything?", DRAW)
    spectator.problem("anything?", 403, "TOKEN-1")


def test_P5_a_spectators_socket_is_as_late(http: httpx.Client) -> None:
    ada, bo = in_turn(http, spectator_delay=DELAY, **QUICK)
    ada.look()
    length = ada.number
    with Socket(http, ada.game) as late, Socket(http, ada.game, ada.token) as player:
        attached = late.receive()
        shown = entries(http, ada.game, None)[-1]
        assert (attached["number"], attached["head"]) == (length - DELAY, shown["head"])
        assert numbers(late.read(length - DELAY)) == [*range(1, length - DELAY + 1)]
        require_silence(late)
        assert numbers(player.read(length)) == [*range(1, length + 1)]
        ada.do(ada.legal()[0])
        assert numbers(player.read(1)) == [length + 1]
        assert numbers(late.read(1)) == [length + 1 - DELAY]
        require_silence(late)
        play_out(ada, bo)
        rest = ada.number - (length + 1 - DELAY)
        assert numbers(late.read(rest)) == [*range(length + 2 - DELAY, ada.number + 1)]


@pytest.mark.parametrize("asks", ["public", "seat"])
def test_P5_a_fork_shows_no_later_state_whoever_asks(http: httpx.Client, asks: str) -> None:
    ada, bo = in_turn(http, spectator_delay=DELAY, **QUICK)
    ada.look()
    token, shown = (ada.token if asks == "seat" else None), ada.number - DELAY
    problem(fork(http, ada.game, shown + 1, token), 422, "GAME-6")
    bo.look()
    play_out(ada, bo)
    assert fork(http, ada.game, shown + 1, token).status_code == 201


# -- forks follow ------------------------------------------------------------------------------------


def test_TOKEN_1_a_fork_of_a_players_game_is_for_its_players(http: httpx.Client) -> None:
    ada, bo = in_turn(http, **PLAYERS_ONLY)
    reply = fork(http, ada.game, 4, ada.token).json()
    forked = reply["game"]
    assert list(invitations(reply)) == [bo.seat]
    problem(view(http, forked), 401, "TOKEN-1")
    assert forked not in listed_games(http)
    problem(join(http, forked), 401, "TOKEN-1")
    other = in_turn(http)[1]
    problem(join(http, forked, invitation=other.token), 403, "TOKEN-1")
    problem(join(http, forked, invitation=ada.token, name="Eve"), 409, "GAME-4")  # her seat is kept for her
    joined = join(http, forked, invitation=bo.token, name="Bo")  # who sat there sits there again
    assert (joined.status_code, joined.json()["seat"]) == (200, bo.seat)
    assert view(http, forked, joined.json()["token"]).status_code == 200


def test_TOKEN_1_a_withdrawn_token_of_the_first_game_invites_nobody(http: httpx.Client) -> None:
    ada, bo = in_turn(http, **PLAYERS_ONLY)
    forked = fork(http, ada.game, 4, ada.token).json()["game"]
    http.post(f"/v1/games/{bo.game}/withdraw-token", headers=bearer(bo.token))
    problem(join(http, forked, invitation=bo.token), 401, "TOKEN-1")


def test_a_players_invitation_ends_with_its_tokens(whole: WholeServer) -> None:
    text = invitations(CreatedGame(whole.http, "human", "human").reply)[0]
    keys = TokenKeys(whole.running.settings.token_key.get_secret_value().encode())
    invitation = keys.verify_invitation(text)
    assert invitation is not None
    assert time.time() < invitation.ends_at_s <= time.time() + whole.running.settings.token_life_s + 2 * DAY_S
