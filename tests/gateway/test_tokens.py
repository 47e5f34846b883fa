"""One bearer token a seat: it shows that seat's view, and nothing else does."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import httpx
import pytest

from schemas.events import HandDealt, SeatTaken, SeedSealed, write_event
from schemas.stored.codec import unpack_entry
from schemas.stored.player_names import with_names
from schemas.trains.events import CardDrawn, TicketsKept, TicketsOffered
from schemas.web.tokens import Holder, Token, TokenKeys
from services.bootstrap.embedded import EmbeddedServer
from services.ledger import RedisLedger
from services.referee.games import redact_for
from tests.gateway.clients import DRAW, CreatedGame, bearer, entries, in_turn, minted, problem, seated
from tests.gateway.conftest import Unchanged


def view(http: httpx.Client, game: str, authorization: str) -> httpx.Response:
    return http.get(f"/v1/games/{game}/view", headers={"Authorization": authorization})


def test_TOKEN_1_a_token_shows_its_seats_view_only(http: httpx.Client, ledger: RedisLedger) -> None:
    players = in_turn(http, 3)
    game = players[0].game
    log = [with_names(unpack_entry(data), ledger.read_names(game)) for data in ledger.read_entries(game)]
    for viewer, token in ((None, None), *((player.seat, player.token) for player in players)):
        found = entries(http, game, token)
        for entry, shown in zip(log, found, strict=True):
            seen = [redact_for(viewer, event) for event in entry.events]
            assert shown["events"] == [write_event(event) for event in seen if event is not None]
            mine = viewer is not None and entry.seat == viewer
            assert shown["answers"] == (entry.id if mine else None)


def secrets_of(ledger: RedisLedger, game: str, seat: int) -> set[str]:
    """Texts that only this seat may know (or nobody yet): ids of tickets, seat secret, seed, its commands' ids."""
    own: set[str] = set()
    others: set[str] = set()
    for data in ledger.read_entries(game):
        entry = unpack_entry(data)
        own |= {entry.id} if entry.seat == seat else set()
        for event in entry.events:
            if isinstance(event, TicketsOffered | TicketsKept):
                row = event.tickets if isinstance(event, TicketsOffered) else event.kept
                (own if event.seat == seat else others).update(ticket for ticket in row if ticket)
            if isinstance(event, SeatTaken) and event.luck and event.seat == seat:
                own.add(event.luck)
            if isinstance(event, SeedSealed) and event.seed:
                own.add(event.seed)
    return own - others


def test_TOKEN_1_what_only_seat_0_knows_is_in_no_other_bytes(http: httpx.Client, ledger: RedisLedger) -> None:
    ada, bo = in_turn(http)
    for command in (DRAW, DRAW):
        assert ada.send(command).status_code == 200
    assert ada.send(DRAW).status_code == 409
    hidden = secrets_of(ledger, ada.game, 0)
    assert len(hidden) >= 8  # three tickets, four commands, the seed
    own = http.get(f"/v1/games/{ada.game}/view", headers=bearer(ada.token)).text
    assert sum(text in own for text in hidden) == len(hidden) - 1, "all but the seed"
    for token in (None, bo.token):
        shown = http.get(f"/v1/games/{ada.game}/view", headers=bearer(token)).text
        assert [text for text in hidden if text in shown] == []


def test_TOKEN_1_cards_drawn_and_dealt_are_face_down_for_others(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    ada, bo = in_turn(http)
    drawn = [ada.send(DRAW).json()["entry"]["events"][0] for _ in range(2)]
    logged = [event for data in ledger.read_entries(ada.game) for event in unpack_entry(data).events]
    assert [event["card"] for event in drawn] == [e.card for e in logged if isinstance(e, CardDrawn)]
    (dealt,) = [e.cards for e in logged if isinstance(e, HandDealt) and e.seat == 0]
    for token in (None, bo.token):
        events = [e for entry in entries(http, ada.game, token) for e in entry["events"]]
        assert [e["card"] for e in events if e["type"] == "card_drawn"] == [None, None]
        (hand,) = [e["cards"] for e in events if e["type"] == "hand_dealt" and e["seat"] == 0]
        assert hand == [None] * len(dealt)


def test_TOKEN_1_a_bots_secret_and_tickets_are_shown_to_nobody(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    created = CreatedGame(http, "human", "random")
    ada = created.join("Ada")
    created.start()
    hidden = secrets_of(ledger, created.game, 1)
    assert hidden
    for token in (None, ada.token, created.host):
        shown = http.get(f"/v1/games/{created.game}/view", headers=bearer(token)).text
        assert [text for text in hidden if text in shown] == []


def test_TOKEN_1_the_hosts_token_sees_what_everybody_sees_and_plays_no_seat(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    created = CreatedGame(http, "human", "human")
    created.join("Ada")
    assert entries(http, created.game, created.host) == entries(http, created.game, None)
    with unchanged(created.game):
        reply = http.post(f"/v1/games/{created.game}/commands", json=DRAW, headers=bearer(created.host))
        problem(reply, 403, "TOKEN-1")


def test_TOKEN_1_another_games_token_is_refused(http: httpx.Client, unchanged: Unchanged) -> None:
    ada, other = in_turn(http)[0], in_turn(http)[0]
    with unchanged(ada.game), unchanged(other.game):
        path = f"/v1/games/{ada.game}"
        problem(http.post(f"{path}/commands", json=DRAW, headers=bearer(other.token)), 403, "TOKEN-1")
        problem(http.get(f"{path}/view", headers=bearer(other.token)), 403, "TOKEN-1")
        problem(http.post(f"{path}/start", headers=bearer(other.token)), 403, "TOKEN-1")


def test_TOKEN_1_without_a_token_nobody_commands_or_starts(http: httpx.Client, unchanged: Unchanged) -> None:
    game = seated(http)[0].game
    with unchanged(game):
        for path in ("commands", "start"):
            reply = http.post(f"/v1/games/{game}/{path}", json=DRAW)
            problem(reply, 401, "TOKEN-1")
            assert reply.headers["www-authenticate"] == "Bearer"


def test_TOKEN_1_an_authorization_of_another_kind_is_refused(http: httpx.Client) -> None:
    ada = in_turn(http)[0]
    for word in ("", "Bearer", f"Basic {ada.token}", ada.token):
        problem(view(http, ada.game, word), 401, "TOKEN-1")
    assert view(http, ada.game, f"bearer   {ada.token}").json()["viewer"] == 0


def forgeries(server: EmbeddedServer, token: str, game: str) -> list[str]:
    prefix, key_id, body, signature = token.split(".")
    other = urlsafe_b64encode(f"{game}/1/0/{1 << 40}".encode()).decode().rstrip("=")
    raw = bytearray(urlsafe_b64decode(signature))
    raw[0] ^= 1
    key = server.settings.token_key.get_secret_value().encode()
    signed = f"{prefix}.{key_id}.{body}"
    return [
        token[:-1], token[:-8], token[1:], token[:20], token.upper(), token[::-1],
        signed, f"{signed}.", f"{prefix}.{key_id}..{signature}", f"{token}.x", f"ll3.{key_id}.{body}.{signature}",
        f"{prefix}.{key_id}.{other}.{signature}", f"{prefix}.{body}.{signature}", f"ll9.{body}.{signature}",
        f"{prefix}..{body}.{signature}", f"{prefix}.{key_id[::-1]}.{body}.{signature}",
        f"{signed}.{urlsafe_b64encode(raw).decode()}",
        minted(b"another key", game, 0), minted(b"", game, 0), minted(key + b"x", game, 0),
        "null", "..", "...", "ll1..", "ll1...", "a.b.c", "a.b.c.d", "%00", "\xff\xfe.\xff.\xff", "x" * 8_000, f"{token} {token}",
    ]  # fmt: skip


def test_TOKEN_1_forged_cut_and_garbage_tokens_are_refused(
    http: httpx.Client, server: EmbeddedServer, unchanged: Unchanged
) -> None:
    ada = in_turn(http)[0]
    with unchanged(ada.game):
        for forged in forgeries(server, ada.token, ada.game):
            headers = {b"Authorization": f"Bearer {forged}".encode("latin-1")}
            for reply in (
                http.get(f"/v1/games/{ada.game}/view", headers=headers),
                http.post(f"/v1/games/{ada.game}/commands", json=DRAW, headers=headers),
            ):
                problem(reply, 401, "TOKEN-1")


@pytest.mark.parametrize("change", ["{}!", "{}\t", "{}==", "{}\n", "\n{}", "{}."])
def test_TOKEN_1_a_token_has_one_spelling(server: EmbeddedServer, change: str) -> None:
    key = server.settings.token_key.get_secret_value().encode()
    token = minted(key, "abcdef", 0, 3, 99)
    assert TokenKeys(key).verify(token) == Token(Holder("abcdef", 0), 3, 99)
    assert TokenKeys(key).verify(change.format(token)) is None


def test_TOKEN_1_a_token_for_a_seat_that_the_game_has_not_gets_no_entry(
    http: httpx.Client, server: EmbeddedServer, unchanged: Unchanged
) -> None:
    game = in_turn(http)[0].game
    stray = minted(server.settings.token_key.get_secret_value().encode(), game, 5)
    with unchanged(game):
        problem(http.post(f"/v1/games/{game}/commands", json=DRAW, headers=bearer(stray)), 403, "TOKEN-1")


def test_TOKEN_1_nobody_gets_a_bots_token_by_joining_under_the_creations_id(http: httpx.Client) -> None:
    """An id is answered with its first verdict; one that seated a bot must not seat a person."""
    id_ = {"Idempotency-Key": "creation-and-join-0001"}
    body = {"seats": [{"kind": "bot", "policy": "random"}, {"kind": "human"}]}
    game = http.post("/v1/games", json=body, headers=id_).json()["game"]
    reply = http.post(f"/v1/games/{game}/join", json={"name": "Ada"}, headers=id_)
    problem(reply, 409, "ID-1")
