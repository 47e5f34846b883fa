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
from typing import Annotated, Final, Literal, NamedTuple, get_args

from pydantic import AfterValidator, Field

from schemas.contract import Schema, contract
from schemas.errors import CorruptDataError
from schemas.field_types import Seat, Text
from schemas.stored.rows import pack, unpack

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - how every secret begins
MIN_SECRET_BYTES: Final = 24  # as the standard has it
MAX_SECRET_BYTES: Final = 64
MAX_URL_LENGTH: Final = 1_000  # characters
WEBHOOK_FORMAT: Final = 2

Asked = Literal["your_turn", "choice_to_make", "game_over", "test"]
BodyForm = Literal["ledgerline", "discord", "slack"]
StoredForm = BodyForm | Literal["push"]
MAX_DEVICES: Final = 4  # of a seat, which are told by Web Push
MAX_KEY_LENGTH: Final = 100  # characters of a key in base64url
CHAT_FIELDS: Final[dict[StoredForm, str]] = {"discord": "content", "slack": "text"}
TEXTS: Final[dict[Asked, str]] = {
    "your_turn": "It is the turn of seat {seat}.",
    "choice_to_make": "Seat {seat} has a choice to make.",
    "game_over": "The game is over.",
    "test": "This is a test: seat {seat} is told here when it is to act.",
}


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
    """Notify this address, in this form of body; the secret that signs is made by the server where none is given."""

    url: Url
    secret: Secret | None = None
    form: BodyForm = "ledgerline"


WEBHOOK_SCHEMA: Final[Schema[WebhookRequest]] = Schema(WebhookRequest, "webhook")


PushKey = Annotated[Text, Field(min_length=1, max_length=MAX_KEY_LENGTH)]


@contract()
class PushKeysRequest:
    """The keys of a browser, in base64url."""

    p256dh: PushKey
    auth: PushKey


@contract()
class PushRequest:
    """Tell this browser, as its `PushSubscription` describes itself."""

    endpoint: Url
    keys: PushKeysRequest


PUSH_SCHEMA: Final[Schema[PushRequest]] = Schema(PushRequest, "push")


class Webhook(NamedTuple):
    """An address to notify, the secret that signs, and what is sent. A browser's is of the form `push`; in place of the
    secret it has the browser's two keys, with a blank between."""

    url: str
    secret: str
    form: StoredForm = "ledgerline"
    is_test: bool = False  # a test is sent first


class Notice(NamedTuple):
    """A notice to a seat: the choice that it is asked for after an entry."""

    game: str
    seat: Seat
    number: int  # of the entry
    asked: Asked

    @property
    def id(self) -> str:
        """The notice's id. It stays when a notice is sent again, so that a receiver drops what it has."""
        test = "_test" if self.asked == "test" else ""
        return f"{self.game}_{self.seat}_{self.number}{test}"

    def body(self, public_url: str = "", form: StoredForm = "ledgerline") -> bytes:
        """The notice as JSON, in the form that its receiver reads; with the address of the table where the server's
        own is known."""
        table = f"{public_url.rstrip('/')}/table/{self.game}" if public_url else ""
        if form in CHAT_FIELDS:
            text = TEXTS[self.asked].format(seat=chr(ord("A") + self.seat))
            return json.dumps({CHAT_FIELDS[form]: f"{text} {table or f'Game {self.game}'}"}).encode()
        fields: dict[str, object] = {"type": self.asked, **self._asdict()}
        del fields["asked"]
        if table:
            fields["table"] = table
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
        webhook_format, url, secret, form, is_test = unpack(data)
    except (TypeError, ValueError) as error:  # it isn't five values
        raise CorruptDataError(f"a webhook can't be read: {error}") from None
    is_known = (
        webhook_format == WEBHOOK_FORMAT
        and form in {*get_args(BodyForm), "push"}
        and isinstance(is_test, bool)
    )
    if not is_known or not isinstance(url, str) or not isinstance(secret, str):
        raise CorruptDataError(f"a webhook of format {webhook_format} can't be read")
    return Webhook(url, secret, form, is_test)


def _key_of(secret: str) -> bytes:
    """Raises binascii.Error where it isn't base64."""
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
