"""The addresses of a seat: a webhook and its devices, each in its place, changed by itself, and removed together."""

from __future__ import annotations

from schemas.web.webhooks import MAX_DEVICES, Webhook
from services.ledger.engine import keys
from services.ledger.stores.webhook_store import WEBHOOK, StoredWebhook, WebhookStore
from tests.conftest import PARTITIONS, Connect

GAME = "a-game"
HOOK = Webhook("https://bot.example.org/", "whsec_x", "slack", is_test=True)


def device(place: int) -> Webhook:
    return Webhook(f"https://push.example.org/{place}", "point auth", "push")


def store_with_a_game(connection: Connect) -> WebhookStore:
    client = connection()
    partition = keys.partition_of(GAME, PARTITIONS)
    for stream in (keys.public_view(partition, GAME), keys.log(partition, GAME)):
        client.xadd(stream, {"p": b""}, "1-0")
    return WebhookStore(client, PARTITIONS)


def test_P9_each_address_of_a_seat_is_kept_marked_and_removed_by_itself(connection: Connect) -> None:
    # given
    store = store_with_a_game(connection)
    places = {WEBHOOK: HOOK} | {place: device(place) for place in range(1, MAX_DEVICES + 1)}
    for place, webhook in places.items():
        assert store.put(GAME, 1, webhook, place)
    # when
    store.mark_notified(GAME, 1, device(2), 7, 2)
    store.mark_failure(GAME, 1, device(3), "it answered 500", 3)
    store.mark_notified(GAME, 1, device(4), 7, 1)
    # then
    found = store.find_all(GAME, 1)
    assert {place: stored.webhook for place, stored in found.items()} == places
    assert [found[place][1:] for place in (0, 1, 2, 3)] == [(0, ""), (0, ""), (7, ""), (0, "it answered 500")]
    assert store.find_all(GAME, 0) == {}
    # and another address that took the place stays
    assert not store.remove_one(GAME, 1, device(1), 2)
    assert store.remove_one(GAME, 1, device(2), 2)
    assert store.find(GAME, 1, 2) is None and store.find(GAME, 1) == StoredWebhook(HOOK)


def test_a_seat_loses_all_its_addresses_at_once_and_nobody_elses(connection: Connect) -> None:
    # given
    store = store_with_a_game(connection)
    for place in (WEBHOOK, 1, MAX_DEVICES):
        store.put(GAME, 1, device(place), place)
    store.put(GAME, 2, HOOK)
    # when
    store.remove(GAME, 1)
    # then
    assert (store.find_all(GAME, 1), [*store.find_all(GAME, 2)]) == ({}, [WEBHOOK])
    assert [game.game for game in store.next_games()] == [GAME]
    store.remove(GAME, 2)
    assert store.next_games() == []
    assert not store.put("no-game", 1, HOOK)
