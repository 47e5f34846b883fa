"""Webhooks: a web address that is notified when a seat is asked for something.

What is sent says which game, which seat, what is asked, and the number of the entry that asks: what the public view
says too, and no more. It is signed as Standard Webhooks describes it (https://www.standardwebhooks.com), so that
any library for that can check it.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, Field

from schemas.contract import Schema, contract
from schemas.errors import CorruptDataError
from schemas.field_types import Seat, Text
from schemas.stored.rows import pack, unpack

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - how every secret begins
MIN_SECRET_BYTES: Final = 24  # as the standard has it
MAX_SECRET_BYTES: Final = 64
MAX_URL_LENGTH: Final = 1_000  # characters
WEBHOOK_FORMAT: Final = 1

Asked = Literal["your_turn", "choice_to_make", "game_over"]


def _require_secret(text: str) -> str:
    """The secret. Raises ValueError where it isn't of the standard's form."""
    try:
        key = _key_of(text)
    except binascii.Error:
        key = b""
    if not text.startswith(SECRET_PREFIX) or not MIN_SECRET_BYTES <= len(key) <= MAX_SECRET_BYTES:
        raise ValueError(
            f"must be {SECRET_PREFIX} and {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} random bytes in base64"
        )
    return text


Url = Annotated[Text, Field(min_length=1, max_length=MAX_URL_LENGTH)]
Secret = Annotated[Text, Field(max_length=120, pattern="^[!-~]*$"), AfterValidator(_require_secret)]


@contract()
class WebhookRequest:
    """Notify this address; the secret that signs is made by the server where none is given."""

    url: Url
    secret: Secret | None = None


WEBHOOK_SCHEMA: Final[Schema[WebhookRequest]] = Schema(WebhookRequest, "webhook")


class Webhook(NamedTuple):
    """An address to notify, and the secret that signs."""

    url: str
    secret: str


class Notice(NamedTuple):
    """A notice to a seat: the choice that it is asked for after an entry."""

    game: str
    seat: Seat
    number: int  # of the entry
    asked: Asked

    @property
    def id(self) -> str:
        """The notice's id. It stays when a notice is sent again, so that a receiver drops what it has."""
        return f"{self.game}_{self.seat}_{self.number}"

    def body(self, public_url: str = "") -> bytes:
        """The notice as JSON; with the address of the table where the server's own is known."""
        fields: dict[str, object] = {"type": self.asked, **self._asdict()}
        del fields["asked"]
        if public_url:
            fields["table"] = f"{public_url.rstrip('/')}/table/{self.game}"
        return json.dumps(fields, separators=(",", ":")).encode()


def new_secret(random_bytes: bytes) -> str:
    """The secret that these bytes make."""
    return SECRET_PREFIX + base64.b64encode(random_bytes).decode()


def sign(secret: str, id_: str, timestamp_s: int, body: bytes) -> str:
    """The signature of a message that is sent at this time (seconds since 1970), as its header holds it."""
    signed = f"{id_}.{timestamp_s}.".encode() + body
    digest = hmac.digest(_key_of(secret), signed, "sha256")
    return f"v1,{base64.b64encode(digest).decode()}"


def pack_webhook(webhook: Webhook) -> bytes:
    """A webhook as the bytes that are stored."""
    return pack((WEBHOOK_FORMAT, *webhook))


def unpack_webhook(data: bytes) -> Webhook:
    """The webhook in stored bytes. Raises CorruptDataError."""
    try:
        webhook_format, url, secret = unpack(data)
    except (TypeError, ValueError) as error:  # it isn't three values
        raise CorruptDataError(f"a webhook can't be read: {error}") from None
    if webhook_format != WEBHOOK_FORMAT or not isinstance(url, str) or not isinstance(secret, str):
        raise CorruptDataError(f"a webhook of format {webhook_format} can't be read")
    return Webhook(url, secret)


def _key_of(secret: str) -> bytes:
    """Raises binascii.Error where it isn't base64."""
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
