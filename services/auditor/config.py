"""The server's signing key, and the engine that holds its jobs, from settings."""

from __future__ import annotations

from schemas.errors import InvalidInputError
from services.archive import Signer, TrustedKeys, trusted_keys
from services.ledger.engine.connection import parse_seed_nodes
from services.runtime.settings import Settings


def build_signer(settings: Settings) -> Signer | None:
    """The signer of finished games; None where there is no archive to put them into.

    Raises InvalidInputError where there is one, and no key, or one that is none."""
    signer = read_signer(settings)
    if signer is None and settings.archive_url:
        why = "is missing: finished games are signed with it before they go into the archive"
        raise InvalidInputError("LEDGERLINE_SIGNING_KEY", why)
    return signer


def own_keys(settings: Settings) -> TrustedKeys:
    """The keys whose signature is the service's own. Raises InvalidInputError."""
    return trusted_keys(settings.public_keys, read_signer(settings))


def read_signer(settings: Settings) -> Signer | None:
    """The signer with the service's own key; None where there is no key. Raises InvalidInputError."""
    secret = settings.signing_key.get_secret_value()
    return Signer(secret) if secret else None


def resolve_jobs_url(settings: Settings) -> str:
    """The address of the engine that jobs are on. Raises InvalidInputError: RQ can't run on a cluster."""
    if settings.jobs_url:
        return settings.jobs_url
    if parse_seed_nodes(settings.redis_url) is not None:
        why = "is missing: jobs can't be kept on a cluster, so name a single engine for them"
        raise InvalidInputError("LEDGERLINE_JOBS_URL", why)
    return settings.redis_url
