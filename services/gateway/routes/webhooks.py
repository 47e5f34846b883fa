"""Routes of webhooks: a web address is notified when a seat is asked for something.

The gateway writes down which address; the auditor finds it there, and sends.
"""

from __future__ import annotations

import secrets
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.web.webhooks import MAX_DEVICES, PUSH_SCHEMA, WEBHOOK_SCHEMA, Webhook, new_secret
from services.gateway.errors import NotYoursError, UnknownGameError
from services.gateway.models import openapi
from services.gateway.models.response_models import PushKey, PushState, WebhookSet, WebhookState
from services.gateway.routes.dependencies import (
    GameParam,
    GameRequest,
    ServiceParam,
    read_body,
)
from services.ledger.stores.webhook_store import WEBHOOK, Addresses
from services.runtime.web_push import PushKeys
from services.runtime.webhook_urls import read_webhook_url

SECRET_BYTES: Final = 32

router = APIRouter(prefix="/v1", tags=["webhooks"], responses=openapi.PROBLEM_RESPONSES)


@router.put(
    "/games/{game}/webhook",
    summary="Have a web address notified when your seat is to act",
    openapi_extra=openapi.WEBHOOK_BODY,
)
async def set_webhook(asked: GameParam, request: Request) -> WebhookSet:
    """A seat has one webhook; a second one takes its place. It is notified of what the seat is asked for now, too."""
    service, game = asked.service, asked.game
    await service.views.require_game(game)
    seat = await asked.require_seat()
    if service.limits.webhook_policy.mode == "off":
        raise NotYoursError("this server notifies no web addresses (LEDGERLINE_WEBHOOKS=off)", "OPERATOR-1")
    wanted = WEBHOOK_SCHEMA.read(await read_body(request))
    read_webhook_url(wanted.url, service.limits.webhook_policy)
    await service.require_unfinished(game, None)
    secret = wanted.secret or new_secret(secrets.token_bytes(SECRET_BYTES))
    webhook = Webhook(wanted.url, secret, wanted.form)
    if not await service.ledger.webhooks().put(game, seat, webhook):
        raise UnknownGameError(game)
    return WebhookSet(game=game, seat=seat, url=webhook.url, secret=webhook.secret, form=wanted.form)


@router.get("/games/{game}/webhook", summary="Your seat's webhook, and whether it could be notified")
async def webhook(asked: GameParam) -> WebhookState:
    await asked.service.views.locate(asked.game, asked.client)
    return await _state(asked, await asked.require_seat())


@router.post("/games/{game}/webhook/test", summary="Have your seat's webhook sent a test")
async def send_test(asked: GameParam) -> WebhookState:
    """The auditor sends it within seconds, as `test`, in place of a notice that is under way. `notified` is null until
    it arrived."""
    service, game = asked.service, asked.game
    await service.views.require_game(game)
    seat = await asked.require_seat()
    await service.require_unfinished(game, None)
    store = service.ledger.webhooks()
    if (stored := await store.find(game, seat)) is not None:
        await store.put(game, seat, stored.webhook._replace(is_test=True))
    return await _state(asked, seat)


@router.delete("/games/{game}/webhook", summary="Remove your seat's webhook")
async def remove_webhook(asked: GameParam) -> WebhookState:
    await asked.service.views.locate(asked.game, asked.client)
    seat = await asked.require_seat()
    await asked.service.ledger.webhooks().remove_one(asked.game, seat)
    return await _state(asked, seat)


@router.get("/push-key", summary="The key with which a browser subscribes to Web Push")
async def push_key(service: ServiceParam) -> PushKey:
    return PushKey(key=service.limits.push_key or None)


@router.put(
    "/games/{game}/push",
    summary="Have a device told by Web Push when your seat is to act",
    openapi_extra=openapi.PUSH_BODY,
)
async def set_push(asked: GameParam, request: Request) -> PushState:
    """A seat has up to four devices; one more takes the place of one that couldn't be told, else of the first."""
    service, game = asked.service, asked.game
    await service.views.require_game(game)
    seat = await asked.require_seat()
    if not service.limits.push_key:
        raise NotYoursError("this server sends no Web Push", "OPERATOR-1")
    wanted = PUSH_SCHEMA.read(await read_body(request))
    PushKeys.read(wanted.keys.p256dh, wanted.keys.auth)
    try:
        read_webhook_url(wanted.endpoint, service.limits.webhook_policy._replace(mode="https"))
    except InvalidInputError as error:
        raise InvalidInputError("endpoint", error.reason) from None
    await service.require_unfinished(game, None)
    store = service.ledger.webhooks()
    devices = await store.find_all(game, seat)
    device = Webhook(wanted.endpoint, f"{wanted.keys.p256dh} {wanted.keys.auth}", "push")
    if not await store.put(game, seat, device, _place_of(devices, wanted.endpoint)):
        raise UnknownGameError(game)
    return await _push_state(asked, seat)


@router.delete("/games/{game}/push", summary="Have a device told no more")
async def remove_push(
    asked: GameParam,
    endpoint: Annotated[
        str | None, Query(description="the device's; left out, none is told any more")
    ] = None,
) -> PushState:
    await asked.service.views.locate(asked.game, asked.client)
    seat = await asked.require_seat()
    store = asked.service.ledger.webhooks()
    for place, stored in (await store.find_all(asked.game, seat)).items():
        if place != WEBHOOK and endpoint in {None, stored.webhook.url}:
            await store.remove_one(asked.game, seat, stored.webhook, place)
    return await _push_state(asked, seat)


def _place_of(addresses: Addresses, endpoint: str) -> int:
    """Where a seat keeps this device: in its own place, a free one, or that of a device that it gives up."""
    devices = {place: stored for place, stored in addresses.items() if place != WEBHOOK}
    own = [place for place, stored in devices.items() if stored.webhook.url == endpoint]
    free = [place for place in range(1, MAX_DEVICES + 1) if place not in devices]
    failed = [place for place, stored in devices.items() if stored.failure]
    return next(iter((*own, *free, *failed, 1)))


async def _push_state(asked: GameRequest, seat: Seat) -> PushState:
    addresses = await asked.service.ledger.webhooks().find_all(asked.game, seat)
    return PushState(game=asked.game, seat=seat, devices=len({*addresses} - {WEBHOOK}))


async def _state(asked: GameRequest, seat: Seat) -> WebhookState:
    game = asked.game
    stored = await asked.service.ledger.webhooks().find(game, seat)
    if stored is None or stored.webhook.form == "push":  # which stands at no webhook's place
        return WebhookState(game=game, seat=seat, url=None, form=None, notified=None, failure=None)
    return WebhookState(
        game=game,
        seat=seat,
        url=stored.webhook.url,
        form=stored.webhook.form,
        notified=stored.notified or None,
        failure=stored.failure or None,
    )
