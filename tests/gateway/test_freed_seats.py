"""GAME-9 over HTTP: the host frees a seat, its former token opens nothing, and the next holder has a seat of its own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from services.bots.kit.seat_client import SeatClient
from services.bots.kit.seat_requests import join_by_link
from services.referee.games import seat_changes
from tests.deploy.compose import wait_until
from tests.gateway.clients import (
    DRAW,
    CreatedGame,
    Player,
    Socket,
    bearer,
    closed_why,
    entries,
    new_id,
    problem,
)


@pytest.fixture
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A freed seat can be taken at once: these tests wait for what it rests for."""
    monkeypatch.setattr(seat_changes, "FREED_SEAT_RESTS_MS", 0)


def free(created: CreatedGame, seat: int, id_: str | None = None) -> httpx.Response:
    headers = bearer(created.host) | {"Idempotency-Key": id_ or new_id()}
    return created.http.post(f"/v1/games/{created.game}/seats/{seat}/free", headers=headers)


def seat_bot(created: CreatedGame, seat: int, **body: object) -> httpx.Response:
    path = f"/v1/games/{created.game}/seats/{seat}/bot"
    return created.http.post(path, json=body, headers=bearer(created.host))


class Invited:
    """Who has an invitation, and joins by it: again and again under one id."""

    def __init__(self, created: CreatedGame, name: str, invitation: str) -> None:
        self.created, self.body = created, {"name": name, "invitation": invitation}
        self.headers = {"Idempotency-Key": new_id()}

    def join(self) -> httpx.Response:
        path = f"/v1/games/{self.created.game}/join"
        return self.created.http.post(path, json=self.body, headers=self.headers)


def luck_shown_to(player: Player) -> list[str]:
    """The seat secrets in a view."""
    events = [event for entry in entries(player.http, player.game, player.token) for event in entry["events"]]
    return [event["luck"] for event in events if event["type"] == "seat_taken" and event["luck"]]


@pytest.mark.long
def test_GAME_9_who_sat_there_has_nothing_of_the_seat_any_more(http: httpx.Client, no_rest: None) -> None:
    # given
    created = CreatedGame(http, "human", "human", "human", by_invitation=True)
    invitations = [each["invitation"] for each in created.reply["invitations"]]
    ada = created.join("Ada", 0, invitation=invitations[0])
    bo = Invited(created, "Bo", invitations[1])
    former = Player(http, created.game, 1, bo.join().json()["token"])
    webhook, hook = f"/v1/games/{created.game}/webhook", {"url": "https://bot.example.org/ledgerline"}
    http.put(webhook, json=hook, headers=bearer(former.token)).raise_for_status()
    freed_id = new_id()
    with Socket(http, created.game, former.token, after=2) as socket:
        assert socket.next()["number"] == 3
        # when
        freed = free(created, 1, freed_id).json()
        # then
        assert socket.next()["events"] == [{"type": "seat_freed", "seat": 1}]
        assert closed_why(socket)[1].endswith("this token was withdrawn")
    assert free(created, 1, freed_id).json() == freed
    for refused in (
        http.get(f"/v1/games/{created.game}/view", headers=bearer(former.token)),
        http.post(f"/v1/games/{created.game}/withdraw-token", headers=bearer(former.token)),
        former.send(DRAW),
        Invited(created, "Bo", invitations[1]).join(),
        bo.join(),
    ):
        problem(refused, 401, "TOKEN-1")
    # and when somebody else comes
    cy = Invited(created, "Cy", freed["invitation"])
    token = cy.join().json()["token"]
    # then
    assert cy.join().json()["token"] == token != former.token
    problem(bo.join(), 401, "TOKEN-1")
    problem(http.get(f"/v1/games/{created.game}/view", headers=bearer(former.token)), 401, "TOKEN-1")
    assert http.get(webhook, headers=bearer(token)).json()["url"] is None
    before, after = luck_shown_to(Player(http, created.game, 1, token))
    assert before != after
    assert {before, after}.isdisjoint(luck_shown_to(ada))


def test_GAME_9_the_name_of_who_sat_there_is_shown_nowhere_any_more(
    http: httpx.Client, no_rest: None
) -> None:
    # given
    created = CreatedGame(http, "human", "human")
    ada, bo = created.join("Ada"), created.join("Xanthippa")
    views = (f"/v1/games/{created.game}/view", f"/v1/games/{created.game}/state?since=0")
    for player in (ada, bo):
        assert all("Xanthippa" in http.get(view, headers=bearer(player.token)).text for view in views)
    # when
    free(created, 1)
    # then
    for token in (ada.token, created.host, None):
        assert all("Xanthippa" not in http.get(view, headers=bearer(token)).text for view in views)
    # and when the same person comes again
    again = created.join("Xanthippa")
    # then
    assert again.look().seats[1].name == "Xanthippa"
    assert http.get(views[0]).text.count("Xanthippa") == 1


@pytest.mark.long
def test_GAME_9_the_next_holder_of_a_seat_has_disputes_of_its_own(http: httpx.Client, no_rest: None) -> None:
    # given
    created = CreatedGame(http, "human", "human")
    path = f"/v1/games/{created.game}/disputes"
    former = created.join("Ada")
    headers, body = bearer(former.token), {"number": 1, "reason": "Nobody else may read this."}
    raised = [http.post(path, json=body, headers=headers) for _ in range(41)]
    assert raised[-1].status_code in {409, 429}, (
        "so many at all, or unanswered, as the auditor is fast or slow"
    )
    assert raised[-1].json()["type"] == "/rules/DISPUTE-2"
    id_ = raised[0].json()["dispute"]
    assert http.get(f"{path}/{id_}", headers=headers).status_code == 200
    # when
    free(created, 0)
    next_one = bearer(created.join("Cy").token)
    # then
    assert http.get(path, headers=next_one).json()["disputes"] == []
    problem(http.get(f"{path}/{id_}", headers=next_one), 404, "DISPUTE-1")
    mine = http.post(path, json=body, headers=next_one).json()
    assert mine["dispute"].startswith(f"{created.game}_0-1_")
    assert http.get(mine["address"], headers=next_one).json()["reason"] == body["reason"]
    [listed] = http.get(path, headers=next_one).json()["disputes"]
    assert listed["dispute"] == mine["dispute"]
    wait_until(lambda: http.get(mine["address"], headers=next_one).json()["answer"])  # RQ takes its name, too


def test_GAME_9_a_bot_takes_a_seat_and_a_client_checks_the_view_of_a_seat_that_was_freed(
    http: httpx.Client, no_rest: None
) -> None:
    # given
    created = CreatedGame(http, "human", "human", "human")
    path, headers = f"/v1/games/{created.game}/join", {"Idempotency-Key": new_id()}
    body = {"name": "Ada", "contribution": "ad" * 32}
    http.post(path, json=body, headers=headers).raise_for_status()
    freed = free(created, 0).json()
    address = f"{str(http.base_url).rstrip('/')}/table/{created.game}"
    # when
    seat = join_by_link(f"{address}#invite={freed['invitation']}", "Bo")
    bots = [seat_bot(created, place, policy="greedy").json() for place in (1, 2)]
    created.start()
    # then
    problem(http.post(path, json=body, headers=headers), 409, "GAME-9")
    with SeatClient(seat) as client:
        turn = client.next_turn()
    assert turn is not None
    assert [seat_state.name for seat_state in turn.state.seats] == ["Bo", "greedy 2", "greedy 3"]
    assert [(bot["seat"], bot["policy"]) for bot in bots] == [(1, "greedy"), (2, "greedy")]
    table = http.get(f"/v1/games/{created.game}/state").json()
    assert [each["kind"] for each in table["seats"]] == ["human", "bot", "bot"]


def test_GAME_9_the_host_alone_changes_seats_and_is_told_why_it_may_not(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human")
    ada = created.join("Ada")
    bodies: dict[str, Any] = {"free": None, "bot": {"policy": "greedy"}}
    for path, body in bodies.items():
        address = f"/v1/games/{created.game}/seats/0/{path}"
        problem(http.post(address, json=body, headers=bearer(ada.token)), 403, "TOKEN-1")
        problem(http.post(address, json=body), 401, "TOKEN-1")
    assert "nobody sits at seat 1" in problem(free(created, 1), 409, "GAME-9")["detail"]
    problem(free(created, 7), 409, "GAME-9")
    problem(free(created, 8), 422, "SHAPE-1", "seat")
    problem(seat_bot(created, 0, policy="greedy"), 409, "GAME-4")
    problem(seat_bot(created, 1, policy="clever"), 422, "SHAPE-1", "policy")
    problem(seat_bot(created, 1, policy="greedy", type="pass"), 422, "SHAPE-1", "type")
    assert seat_bot(created, 1, policy="greedy").status_code == 200
    created.start()
    assert "has started" in problem(free(created, 1), 409, "GAME-9")["detail"]
