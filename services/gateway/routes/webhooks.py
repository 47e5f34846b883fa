"""Routes of webhooks: a web address is notified when a seat is asked for something.

The gateway writes down which address; the auditor finds it there, and sends.
"""

from __future__ import annotations

import secrets
from typing import Final

from fastapi import APIRouter, Request

from schemas.field_types import Seat
from schemas.web.webhooks import WEBHOOK_SCHEMA, Webhook, new_secret
from services.gateway.errors import NotYoursError, UnknownGameError
from services.gateway.models import openapi
from services.gateway.models.response_models import WebhookSet, WebhookState
from services.gateway.routes.dependencies import (
    GameParam,
    GameRequest,
    read_body,
)
from services.runtime.webhook_urls import read_webhook_url

SECRET_BYTES: Final = 32

router = APIRouter(tags=["webhooks"])


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
    webhook = Webhook(wanted.url, wanted.secret or new_secret(secrets.token_bytes(SECRET_BYTES)))
    if not await service.ledger.webhooks().put(game, seat, webhook):
        raise UnknownGameError(game)
    return WebhookSet(game=game, seat=seat, url=webhook.url, secret=webhook.secret)


@router.get("/games/{game}/webhook", summary="Your seat's webhook, and whether it could be notified")
async def webhook(asked: GameParam) -> WebhookState:
    await asked.service.views.locate(asked.game, asked.client)
    return await _state(asked, await asked.require_seat())


@router.delete("/games/{game}/webhook", summary="Remove your seat's webhook")
async def remove_webhook(asked: GameParam) -> WebhookState:
    await asked.service.views.locate(asked.game, asked.client)
    seat = await asked.require_seat()
    await asked.service.ledger.webhooks().remove(asked.game, seat)
    return await _state(asked, seat)


async def _state(asked: GameRequest, seat: Seat) -> WebhookState:
    game = asked.game
    stored = await asked.service.ledger.webhooks().find(game, seat)
    if stored is None:
        return WebhookState(game=game, seat=seat, url=None, notified=None, failure=None)
    return WebhookState(
        game=game,
        seat=seat,
        url=stored.webhook.url,
        notified=stored.notified or None,
        failure=stored.failure or None,
    )
