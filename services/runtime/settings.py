"""Settings, read once from the environment (LEDGERLINE_*) when a process is composed.

Each may be in a file instead, named like its variable, in the folder LEDGERLINE_SECRETS_DIR: what is in the
environment can be read by whoever may look at the process."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from schemas.contract import to_invalid_input_error
from schemas.errors import InvalidInputError
from schemas.web.tokens import DAY_S, DEFAULT_LIFE_S, MIN_KEY_CHARACTERS, TokenKeys, parse_token_keys
from services.runtime.webhook_urls import WebhookMode, WebhookPolicy

MAX_LIFE_S: Final = 365 * DAY_S
SECRETS_DIR_VARIABLE: Final = "LEDGERLINE_SECRETS_DIR"


def _split(value: object) -> object:
    """The parts of a list that is written with commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Origin = Annotated[str, Field(pattern=r"^https?://[^/\s]+$")]


def require_long_secret(secret: SecretStr) -> SecretStr:
    """The secret, which is left out or so long that nobody finds it by trying. Raises ValueError."""
    if 0 < len(secret.get_secret_value()) < MIN_KEY_CHARACTERS:
        raise ValueError(f"has fewer than {MIN_KEY_CHARACTERS} characters")
    return secret


class Settings(BaseSettings):
    """The settings of a service, from its environment."""

    model_config = SettingsConfigDict(env_prefix="LEDGERLINE_", extra="ignore")

    redis_url: Annotated[str, Field(pattern=r"^(rediss?(\+cluster)?|unix)://")] = Field(
        "redis://127.0.0.1:6379/0", description="the engine, or some nodes of a cluster"
    )
    redis_password: SecretStr = Field(
        SecretStr(""), description="the password of the user that the engine's address names"
    )
    secrets_dir: str | None = Field(
        None, description="a folder of files, each named like a variable, that hold settings"
    )
    engine_wait_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        60, description="how long a service that starts waits for the engine before it gives up"
    )
    partitions: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="fixed when the engine is first used; left out, the number that is stored there"
    )
    retention_s: Annotated[float, Field(ge=60, le=3_153_600_000)] = Field(
        2_592_000.0, description="how long a game stays in the engine that is over"
    )
    unstarted_s: Annotated[float, Field(ge=60, le=3_153_600_000)] = Field(
        3_600.0, description="how long a game stays in the engine that was never started"
    )
    archive_url: str | None = Field(
        None, description="where finished games go; left out, they only leave the engine"
    )
    archived_stays_s: Annotated[float, Field(ge=0, le=3_153_600_000)] = Field(
        3_600.0, description="how long a finished game stays in the engine once it is in the archive"
    )
    signing_key: SecretStr = Field(SecretStr(""), description="signs finished games: 64 hex digits")
    public_keys: str = Field(
        "",
        description="whose signature under archived games is believed: public keys, each for its time; "
        "that of the own signing key is one of them",
    )
    jobs_url: Annotated[str, Field(pattern=r"^(rediss?|unix)://")] | None = Field(
        None, description="the engine of the auditor's jobs, never a cluster; left out, that of the games"
    )
    webhooks: WebhookMode = Field(
        "https",
        description="which web addresses may be notified when a seat is to act: https, also http, or off",
    )
    webhook_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_split)] = (
        Field(
            (),
            description="networks that webhooks may lead to though they aren't public, with commas between",
        )
    )
    public_url: Annotated[str, Field(pattern=r"^(https?://[^/?#\s]+(/[^?#\s]*)?)?$")] = Field(
        "", description="the server's address as players have it: webhooks then name the page of the table"
    )
    remembers_mib: Annotated[int, Field(ge=0, le=1_048_576)] = Field(
        2_048, description="MiB of games that a referee caches, folded or packed"
    )
    decision_s: Annotated[float, Field(ge=0.1, le=60)] = Field(
        2.0, description="how long a decision may take before it is interrupted; a dead letter the third time"
    )
    compiled_rules: bool = Field(
        True,
        description="the rules that `make fast` compiled decide, where there are any; off, always pure Python",
    )
    bot_processes: Annotated[int, Field(ge=0, le=256)] = Field(
        0, description="processes in which slow policies of bots think; 0: as many as there are cores"
    )
    token_key: SecretStr = Field(
        SecretStr(""),
        description="signs seat tokens, the same for all gateways; of several the first one signs",
    )
    token_life_s: Annotated[int, Field(ge=60, le=MAX_LIFE_S)] = Field(
        DEFAULT_LIFE_S, description="how long a seat's token is good for"
    )
    own_boards: Literal["everyone", "operator", "nobody"] = Field(
        "everyone", description="who may create games on boards of their own or from positions"
    )
    operator_key: Annotated[SecretStr, AfterValidator(require_long_secret)] = Field(
        SecretStr(""), description="who sends it is the operator; at least 32 characters"
    )
    host: str = Field("127.0.0.1", description="the gateway's address")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8720, description="the gateway's port; 0 takes a free one"
    )
    rate: Annotated[float, Field(gt=0, le=10_000)] = Field(
        50, description="commands a second, per seat; four times as many at once"
    )
    read_rate: Annotated[float, Field(gt=0, le=10_000)] = Field(
        50, description="reads and opened sockets a second, per address; four times as many at once"
    )
    connections: Annotated[int, Field(ge=1, le=100_000)] = Field(
        2_000, description="connections at once, over HTTP and WebSocket"
    )
    connections_per_address: Annotated[int, Field(ge=1, le=100_000)] = Field(
        100, description="connections at once, per address"
    )
    proxies: Annotated[tuple[IPv4Network | IPv6Network, ...] | None, NoDecode, BeforeValidator(_split)] = (
        Field(
            None,
            description="addresses or networks of proxies whose X-Forwarded-For is believed, with commas between",
        )
    )
    origins: Annotated[tuple[Origin, ...] | None, NoDecode, BeforeValidator(_split)] = Field(
        None,
        description="origins whose pages may use the API (CORS) and open sockets, with commas between; "
        "left out, all may open sockets, and none may use the rest",
    )
    open_games: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        50,
        description="games that are not over, of those that one address, or one creator, created; "
        "and MiB of the engine for all of them",
    )
    strict_engine: bool = Field(
        False, description="a gateway doesn't start on an engine whose settings break promises"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the lowest level that is logged; every appended entry is at debug"
    )
    log_form: Literal["auto", "console", "json"] = Field(
        "auto", description="the format of log lines; auto is console on a terminal and json elsewhere"
    )

    @field_validator("redis_password")
    @classmethod
    def _require_one_password(cls, password: SecretStr, info: ValidationInfo) -> SecretStr:
        """Raises ValueError where the engine's address has a password too."""
        if password.get_secret_value() and has_password(info.data.get("redis_url", "")):
            raise ValueError("is set, but LEDGERLINE_REDIS_URL has a password too")
        return password

    @property
    def webhook_policy(self) -> WebhookPolicy:
        """The addresses to which webhooks may lead."""
        return WebhookPolicy(self.webhooks, self.webhook_networks)

    @model_validator(mode="after")
    def _put_password_into_url(self) -> Self:
        """Put the password into the address, which is all that a connection needs."""
        if password := self.redis_password.get_secret_value():
            self.redis_url = add_password(self.redis_url, password)
            self.redis_password = SecretStr("")
        return self


def has_password(url: str) -> bool:
    """Whether an engine's address names a password."""
    user_and_password, at_sign, _ = url.partition("://")[2].rpartition("@")
    return bool(at_sign) and ":" in user_and_password


def add_password(url: str, password: str) -> str:
    """The address of an engine or a cluster, with the password for the user that it names, or for none."""
    scheme, separator, rest = url.partition("://")
    user, _, hosts = rest.rpartition("@")
    return f"{scheme}{separator}{user}:{quote(password, safe='')}@{hosts}"


def read_settings(**overrides: object) -> Settings:
    """The settings from the environment, and from the folder that it names for them.

    Raises InvalidInputError, naming the variable."""
    folder = os.environ.get(SECRETS_DIR_VARIABLE)
    if folder and not Path(folder).is_dir():
        raise InvalidInputError(SECRETS_DIR_VARIABLE, f"is no folder: {folder}")
    try:
        return Settings(_secrets_dir=folder or None, **overrides)  # type: ignore[call-arg,arg-type]  # the model checks
    except ValidationError as error:
        problem = to_invalid_input_error(error, "settings")
        raise InvalidInputError(f"LEDGERLINE_{problem.field.upper()}", problem.reason) from None


def read_token_keys(settings: Settings) -> TokenKeys:
    """The keys for tokens. Raises InvalidInputError: there is none, or one is too short."""
    text = settings.token_key.get_secret_value()
    if not text:
        raise InvalidInputError("LEDGERLINE_TOKEN_KEY", "is missing: set one secret for all gateways")
    return parse_token_keys(text, "LEDGERLINE_TOKEN_KEY")
