"""Tables of a game without a page of its own, over HTTP: its parts as each viewer sees them, lists, replays, refusals."""

from __future__ import annotations

import httpx
import pytest

from services.tables import table_answers
from tests.gateway.clients import CreatedGame, Json, Player, Socket, bearer, new_id, problem

RULES = "tricks"


@pytest.fixture
def seated(http: httpx.Client) -> list[Player]:
    """Three people; seat 0 leads."""
    created = CreatedGame(http, "human", "human", "human", ruleset=RULES, visibility="public")
    players = [created.join(name) for name in ("Ada", "Bo", "Cy")]
    created.start()
    return players


@pytest.fixture(scope="module")
def finished(http: httpx.Client) -> str:
    """A game that was left by all but one."""
    created = CreatedGame(http, "human", "random", "random", ruleset=RULES, visibility="public")
    ada = created.join("Ada")
    created.start()
    assert ada.send({"type": "leave"}).status_code == 200
    return str(created.game)


def table(player: Player, token: str | None = None, **params: object) -> Json:
    reply = player.http.get(
        f"/v1/games/{player.game}/state",
        params={name: str(value) for name, value in params.items()},
        headers=bearer(player.token if token is None else token or None),
    )
    assert reply.status_code == 200, reply.text
    found: Json = reply.json()
    return found


def test_SHAPE_1_a_command_that_there_is_not_is_answered_with_those_of_its_game(
    http: httpx.Client, seated: list[Player]
) -> None:
    ada, wrong = seated[0], {"type": "fly"}
    answer = problem(ada.send(wrong), 422, "SHAPE-1", "type")
    assert answer["detail"] == "type: must be one of answer_undo, ask_undo, leave, play_card"
    with Socket(http, ada.game, ada.token, 5) as socket:
        socket.send("a", wrong)
        assert socket.problem("a", 422, "SHAPE-1", "type")["detail"] == answer["detail"]


def hands(found: Json) -> list[list[str | None]]:
    return [part["cards"] for part in found["parts"] if part["name"] == "hand"]


def test_VIEW_1_a_seat_sees_its_own_cards_and_others_face_down(seated: list[Player]) -> None:
    # given
    ada = seated[0]
    # when
    own, public = table(ada), table(ada, token="")
    # then
    assert (own["viewer"], own["ruleset"], own["status"], own["turn"]) == (0, RULES, "playing", 0)
    assert own["ruleset_title"] == "Tricks"
    assert [len(hand) for hand in hands(own)] == [20, 20, 20]
    assert None not in hands(own)[0]
    assert set(hands(own)[1] + hands(own)[2]) == {None}
    assert {card for hand in hands(public) for card in hand} == {None}
    assert own["seats"] == public["seats"]
    assert "board" not in own and "market" not in own
    assert own["parts"][0] == {"name": "trick", "seat": None, "cards": [], "number": None, "text": None}


def test_GAME_6_a_fork_is_refused_with_the_reason_where_its_moments_cannot_be_laid_again(
    http: httpx.Client, finished: str
) -> None:
    refused = http.post(f"/v1/games/{finished}/forks", json={"at": 3}, headers={"Idempotency-Key": new_id()})
    reason = (
        f"what lies in game {finished} can't be laid again, by its rules {RULES}; so no game goes on from it"
    )
    assert problem(refused, 422, "GAME-6")["detail"] == reason


def test_what_is_legal_is_listed_in_the_words_of_the_game(seated: list[Player]) -> None:
    ada, bo, _ = seated
    legal = table(ada, legal=True)["legal"]
    assert [each["command"]["card"] for each in legal] == hands(table(ada))[0], "who leads plays any card"
    assert legal[0]["text"] == f"play {legal[0]['command']['card']}"
    listed = ada.http.get(f"/v1/games/{ada.game}/legal", headers=bearer(ada.token)).json()
    assert listed["commands"] == legal
    assert table(bo, legal=True)["legal"] == []


def test_a_replay_shows_the_table_as_it_was(seated: list[Player]) -> None:
    # given
    ada = seated[0]
    before = table(ada)
    card = hands(before)[0][0]
    # when
    assert ada.send({"type": "play_card", "card": card}).status_code == 200
    after = table(ada, since=before["number"])
    # then
    assert after["parts"][0]["cards"] == [card]
    assert [move["text"] for move in after["moves"]] == [[f"Ada plays {card}."]]
    shown = table(ada, at=before["number"])
    assert shown | {"age_ms": 0} == before | {"age_ms": 0}
    path = f"/v1/games/{ada.game}/replays"
    replay = ada.http.get(path).json()
    assert (replay["viewer"], replay["entries"]) == ("public", after["number"])
    replayed = ada.http.get(f"{path}/{after['number']}").json()
    assert replayed["parts"][0]["cards"] == [card]


def test_a_list_has_games_without_a_board(http: httpx.Client, finished: str) -> None:
    rows = {row["game"]: row for row in http.get("/v1/games", params={"ruleset": RULES}).json()["games"]}
    row = rows[finished]
    assert (row["status"], row["board"], row["board_title"]) == ("over", None, None)
    assert [seat["total"] for seat in row["seats"]] == [0, 0, 0]


def test_the_result_names_what_a_total_is_made_of(http: httpx.Client, finished: str) -> None:
    found = http.get(f"/v1/games/{finished}/state").json()
    assert found["result"][1] == {"seat": 1, "place": 1, "total": 0, "parts": {"tricks": 0}}
    assert found["result"][0]["place"] == 3, "who withdrew comes last"
    assert found["ended"] == "a seat withdrew"
    seen = http.get(f"/v1/games/{finished}/state", params={"at": found["number"], "as": "0"}).json()
    assert None not in hands(seen)[0]


def test_what_a_game_lacks_is_refused_with_a_reason(
    seated: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = seated[0]
    own = bearer(ada.token)
    reply = ada.http.get(f"/v1/games/{ada.game}/board", headers=own)
    assert "played on no board" in reply.json()["detail"]
    problem(reply, 404, "SHAPE-1")
    # and where no bot of the game says what a move is worth
    suggestions = f"/v1/games/{ada.game}/suggestions"
    assert ada.http.get(suggestions, headers=own).status_code == 200
    monkeypatch.setattr(table_answers, "SUGGESTING", "a bot that it hasn't")
    reply = ada.http.get(suggestions, headers=own)
    assert "no bot that plays this game" in reply.json()["detail"]
    problem(reply, 403, "SUGGEST-1")
