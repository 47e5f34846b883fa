"""Messages of Web Push: encrypted for one browser (RFC 8291), sent in the name of one server (VAPID, RFC 8292).

A browser gives an address at its maker's push service, its public key and a secret. The service passes on what it can't
read, from a server that signs with the key that the browser was told. Pure, but for the random bytes of each message.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from schemas.errors import InvalidInputError
from schemas.web.tokens import MIN_KEY_CHARACTERS
from services.runtime.settings import Settings

ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of the curve P-256
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
SALT_BYTES: Final = 16
RECORD_BYTES: Final = 4_096  # of a message, which is one record
LAST_RECORD: Final = b"\x02"
SIGNED_FOR_S: Final = 12 * 3_600  # a push service takes a signature for a day at most
KEPT_S: Final = 86_400  # by the push service, for a device that is off


class PushKeys(NamedTuple):
    """What a browser gave: its public key, a point of P-256, and the secret that it shares with the server."""

    point: bytes
    auth: bytes

    @classmethod
    def read(cls, p256dh: str, auth: str) -> PushKeys:
        """The keys in base64url. Raises InvalidInputError, which names the field."""
        point, shared = _read_bytes("keys.p256dh", p256dh), _read_bytes("keys.auth", auth)
        try:
            if len(point) != POINT_BYTES:
                raise ValueError
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        except ValueError:
            raise InvalidInputError("keys.p256dh", "must be an uncompressed point of P-256") from None
        if len(shared) != AUTH_BYTES:
            raise InvalidInputError("keys.auth", f"must be {AUTH_BYTES} bytes")
        return cls(point, shared)


class PushSender:
    """A server's key pair for Web Push, made from its secret: the same one after each start."""

    def __init__(self, secret: str) -> None:
        scalar = int.from_bytes(hashlib.sha512(secret.encode()).digest()) % (ORDER - 1) + 1
        self._key = ec.derive_private_key(scalar, ec.SECP256R1())
        self.public_key: Final = to_base64url(_point_of(self._key))

    def headers(self, endpoint: str, now_s: int, contact: str) -> list[tuple[str, str]]:
        """The headers of a message to this address, signed now (seconds since 1970). `contact` is the server's own
        address; some push services ask for one."""
        origin = urlsplit(endpoint)
        claims = {"aud": f"{origin.scheme}://{origin.netloc}", "exp": now_s + SIGNED_FOR_S}
        if contact.startswith("https://"):
            claims["sub"] = contact
        parts = [_json_part({"typ": "JWT", "alg": "ES256"}), _json_part(claims)]
        signed = ".".join(parts)
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA256())))
        token = f"{signed}.{to_base64url(r.to_bytes(32) + s.to_bytes(32))}"
        return [
            ("Authorization", f"vapid t={token}, k={self.public_key}"),
            ("Content-Encoding", "aes128gcm"),
            ("Content-Type", "application/octet-stream"),
            ("TTL", str(KEPT_S)),
            ("Urgency", "high"),
        ]


def make_push_sender(settings: Settings) -> PushSender | None:
    """The sender that the settings' secret makes; None where there is none, or no address may be notified. Raises
    InvalidInputError: the secret is too short."""
    secret = settings.push_key.get_secret_value()
    if not secret or settings.webhooks == "off":
        return None
    if len(secret) < MIN_KEY_CHARACTERS:
        raise InvalidInputError("LEDGERLINE_PUSH_KEY", f"must have {MIN_KEY_CHARACTERS} characters or more")
    return PushSender(secret)


def encrypt(
    keys: PushKeys, text: bytes, salt: bytes = b"", own: ec.EllipticCurvePrivateKey | None = None
) -> bytes:
    """A message that the browser of these keys alone can read. Salt and key are drawn for each, but in a test."""
    salt, own = salt or secrets.token_bytes(SALT_BYTES), own or ec.generate_private_key(ec.SECP256R1())
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), keys.point)
    point = _point_of(own)
    info = b"WebPush: info\0" + keys.point + point
    shared = _derive(own.exchange(ec.ECDH(), theirs), keys.auth, info, 32)
    key = _derive(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(shared, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD_BYTES.to_bytes(4) + bytes([POINT_BYTES]) + point
    return header + AESGCM(key).encrypt(nonce, text + LAST_RECORD, None)


def to_base64url(data: bytes) -> str:
    """Bytes as base64url, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """The bytes of base64url, with padding or without. Raises binascii.Error."""
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), b"-_", validate=True)


def _read_bytes(field: str, text: str) -> bytes:
    try:
        return from_base64url(text)
    except (binascii.Error, ValueError):
        raise InvalidInputError(field, "must be base64url") from None


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def _point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _json_part(value: object) -> str:
    return to_base64url(json.dumps(value, separators=(",", ":")).encode())
