"""Seat tokens: a signed statement that the bearer holds a seat of a game (or is its host).

A token needs no storage, so no crash can leave a seat taken and its token lost: a repeated request
to join, under the same command id, returns a token of that seat. The holder of a key can make any
token; only the servers have it.

A token names the key that it is signed with, its generation (a withdrawal makes all earlier generations
of a seat void) and its end.
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
_PREFIX: Final = "ll1"
_INVITATION_PREFIX: Final = "lli1"
_DOMAINS: Final = {  # what a signature is about: one of another kind is none
    _PREFIX: b"ledgerline/token/1 ",
    _INVITATION_PREFIX: b"ledgerline/invitation/1 ",
}


class Holder(NamedTuple):
    """The holder of a token: a seat, or the host of the game (None)."""

    game: str
    seat: Seat | None


class Token(NamedTuple):
    """What a token states: its holder, how often tokens of that seat had been withdrawn, and its end."""

    holder: Holder
    generation: int
    ends_at_s: int  # seconds since 1970, by the wall clock

    def has_ended(self, now_s: float) -> bool:
        """Whether its end has come, at this time of the wall clock."""
        return self.ends_at_s <= now_s


class Invitation(NamedTuple):
    """What an invitation states: the seat that its bearer may take while it is free, and its end."""

    game: str
    seat: Seat
    ends_at_s: int  # seconds since 1970, by the wall clock
    times_freed: int = 0  # how often the host had freed the seat: freeing it again voids this


class TokenKeys:
    """The keys that tokens are verified with. The first of them signs."""

    def __init__(self, first: bytes, *others: bytes) -> None:
        self.keys: Final = (first, *others)
        self._by_id = {_key_id(key): key for key in reversed(self.keys)}

    def mint(self, token: Token) -> str:
        """The text of a token: always the same for the same statement."""
        (game, seat), generation, ends_at_s = token
        claim = f"{game}/{HOST if seat is None else seat}/{generation}/{ends_at_s}"
        return self._sign_claim(_PREFIX, claim)

    def verify(self, text: str) -> Token | None:
        """What the token states, or None if none of these keys made it. Its end isn't looked at."""
        claim = self._signed_claim(_PREFIX, text)
        return None if claim is None else _read_claim(claim)

    def mint_invitation(self, invitation: Invitation) -> str:
        """The text of an invitation: always the same for the same statement. It is no token, and no token is one."""
        return self._sign_claim(_INVITATION_PREFIX, "/".join(map(str, invitation)))

    def verify_invitation(self, text: str) -> Invitation | None:
        """What the invitation states, or None if none of these keys made it. Its end isn't looked at."""
        if (claim := self._signed_claim(_INVITATION_PREFIX, text)) is None:
            return None
        game, *numbers = claim.split("/")
        return Invitation(game, *map(int, numbers))

    def _sign_claim(self, prefix: str, claim: str) -> str:
        key = self.keys[0]
        return ".".join((prefix, _key_id(key), _encode_base64(claim.encode()), _sign(key, prefix, claim)))

    def _signed_claim(self, prefix: str, text: str) -> str | None:
        """The claim in a text of this kind, or None if none of these keys signed it."""
        try:
            stated_prefix, key_id, body, signature = text.split(".")
            claim = _decode_base64(body).decode()
        except (ValueError, UnicodeError):
            return None
        key = self._by_id.get(key_id)
        # compared as text: base64 reads other texts alike
        if (
            stated_prefix != prefix
            or key is None
            or not hmac.compare_digest(signature.encode(), _sign(key, prefix, claim).encode())
        ):
            return None
        return claim


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
    game, holder, generation, ends_at_s = claim.split("/")
    seat = None if holder == HOST else int(holder)
    return Token(Holder(game, seat), int(generation), int(ends_at_s))


def _key_id(key: bytes) -> str:
    """A short name of a key, which says nothing of it."""
    return _encode_base64(hmac.new(key, b"ledgerline/token-key/1", sha256).digest()[:6])


def _sign(key: bytes, prefix: str, claim: str) -> str:
    return _encode_base64(hmac.new(key, _DOMAINS[prefix] + claim.encode(), sha256).digest()[:24])


def _encode_base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _decode_base64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
