"""Seat tokens: a signed statement that the bearer holds a seat of a game (or is its host).

A token needs no storage, so no crash can leave a seat taken and its token lost: a repeated request
to join, under the same command id, returns a token of that seat. The holder of a key can make any
token; only the servers have it.

A token names the key that it is signed with, its generation (a withdrawal makes all earlier generations
of a seat void) and its end. Tokens of before (`ll1`) have neither: they are of generation 0 and have no end.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.field_types import Seat

HOST: Final = "host"
MIN_KEY_CHARACTERS: Final = 32
DAY_S: Final = 86_400
DEFAULT_LIFE_S: Final = 30 * DAY_S
_PREFIX: Final = "ll2"
_FORMER_PREFIX: Final = "ll1"
_INVITATION_PREFIX: Final = "lli1"
_DOMAINS: Final = {  # what a signature is about: one of another kind is none
    _FORMER_PREFIX: b"ledgerline/token/1",
    _PREFIX: b"ledgerline/token/2 ",
    _INVITATION_PREFIX: b"ledgerline/invitation/1 ",
}


class Holder(NamedTuple):
    """The holder of a token: a seat, or the host of the game (None)."""

    game: str
    seat: Seat | None


class Token(NamedTuple):
    """What a token states: its holder, how often tokens of that seat had been withdrawn, and its end."""

    holder: Holder
    generation: int = 0
    ends_at_s: int | None = (
        None  # seconds since 1970, by the wall clock; None: of the former form, without an end
    )

    def has_ended(self, now_s: float) -> bool:
        """Whether its end has come, at this time of the wall clock."""
        return self.ends_at_s is not None and self.ends_at_s <= now_s


class Invitation(NamedTuple):
    """What an invitation states: the seat that its bearer may take while it is free, and its end."""

    game: str
    seat: Seat
    ends_at_s: int  # seconds since 1970, by the wall clock
    times_freed: int = 0  # how often the host had freed the seat: one of before is void


class TokenKeys:
    """The keys that tokens are verified with. The first of them signs."""

    def __init__(self, first: bytes, *others: bytes) -> None:
        self.keys: Final = (first, *others)
        self._by_id = {_key_id(key): key for key in reversed(self.keys)}

    def mint(self, token: Token) -> str:
        """The text of a token: always the same for the same statement."""
        (game, seat), generation, ends_at_s = token
        assert ends_at_s is not None, "a new token has an end"
        key = self.keys[0]
        claim = f"{game}/{HOST if seat is None else seat}/{generation}/{ends_at_s}"
        return ".".join((_PREFIX, _key_id(key), _encode_base64(claim.encode()), _sign(key, _PREFIX, claim)))

    def verify(self, text: str) -> Token | None:
        """What the token states, or None if none of these keys made it. Its end isn't looked at."""
        try:
            prefix, *key_ids, body, signature = text.split(".")
            claim = _decode_base64(body).decode()
            keys = self.keys if prefix == _FORMER_PREFIX and not key_ids else ()
            if prefix == _PREFIX and len(key_ids) == 1 and key_ids[0] in self._by_id:
                keys = (self._by_id[key_ids[0]],)
            # compared as text: base64 reads other texts alike
            if not any(
                hmac.compare_digest(signature.encode(), _sign(key, prefix, claim).encode()) for key in keys
            ):
                return None
            return _read_claim(claim)
        except (ValueError, UnicodeError):
            return None

    def mint_invitation(self, invitation: Invitation) -> str:
        """The text of an invitation: always the same for the same statement. It is no token, and no token is one."""
        *stated, times_freed = invitation
        key, claim = self.keys[0], "/".join(map(str, invitation if times_freed else stated))
        signature = _sign(key, _INVITATION_PREFIX, claim)
        return ".".join((_INVITATION_PREFIX, _key_id(key), _encode_base64(claim.encode()), signature))

    def verify_invitation(self, text: str) -> Invitation | None:
        """What the invitation states, or None if none of these keys made it. Its end isn't looked at."""
        try:
            prefix, key_id, body, signature = text.split(".")
            claim = _decode_base64(body).decode()
            key = self._by_id.get(key_id)
            if prefix != _INVITATION_PREFIX or key is None:
                return None
            if not hmac.compare_digest(signature.encode(), _sign(key, prefix, claim).encode()):
                return None
            game, *numbers = claim.split("/")
            return Invitation(game, *map(int, numbers)) if len(numbers) in (2, 3) else None
        except (ValueError, UnicodeError):
            return None


def parse_token_keys(text: str, field: str) -> TokenKeys:
    """The keys in a setting, separated by commas. Raises InvalidInputError, which quotes none of them."""
    keys = [key.strip() for key in text.split(",")]
    for key in keys:
        if len(key) < MIN_KEY_CHARACTERS:
            raise InvalidInputError(
                field,
                f"has a key of {len(key)} characters, and whoever guesses one takes any seat: set {MIN_KEY_CHARACTERS} or "
                f"more, chosen at random, as `openssl rand -hex 32` prints them",
            )
    return TokenKeys(*(key.encode() for key in keys))


def token_end_s(now_s: float, life_s: int) -> int:
    """The end of a token that is issued now: `life_s` later or a little more, so that tokens that are issued soon
    after each other are equal."""
    step_s = max(1, life_s // 30)
    return (int(now_s) // step_s + 1) * step_s + life_s


def _read_claim(claim: str) -> Token:
    game, holder, *rest = claim.split("/")
    held = Holder(game, None if holder == HOST else int(holder))
    if not rest:
        return Token(held)
    generation, ends_at_s = map(int, rest)
    return Token(held, generation, ends_at_s)


def _key_id(key: bytes) -> str:
    """A short name of a key, which says nothing of it."""
    return _encode_base64(hmac.new(key, b"ledgerline/token-key/1", sha256).digest()[:6])


def _sign(key: bytes, prefix: str, claim: str) -> str:
    return _encode_base64(hmac.new(key, _DOMAINS[prefix] + claim.encode(), sha256).digest()[:24])


def _encode_base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _decode_base64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
