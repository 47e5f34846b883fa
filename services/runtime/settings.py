"""Settings, read once from the environment (LEDGERLINE_*) when a process is composed.

Each may be in a file instead, named like its variable, in the folder LEDGERLINE_SECRETS_DIR: what is in the
environment can be read by whoever may look at the process."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote, unquote, urlsplit

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
        "redis://127.0.0.1:6379/0",
        description="the engine; `rediss://` for TLS; `redis+cluster://` or `rediss+cluster://` for a cluster",
    )
    redis_password: SecretStr = Field(
        SecretStr(""),
        description="the password of the user that `LEDGERLINE_REDIS_URL` names; from a file; left out: that of "
        "the address, if it has one",
    )
    secrets_dir: str | None = Field(
        None,
        description="the folder of files with settings, `/run/secrets` in a container; left out: no files are "
        "read",
    )
    engine_wait_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        60, description="seconds that a starting service waits for the engine"
    )
    partitions: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None,
        description="fixed by the first service that uses the engine; a different number later is an error; left "
        "out: the engine's, or 256 if it is new",
    )
    retention_s: Annotated[float, Field(ge=60, le=3_153_600_000)] = Field(
        2_592_000.0, description="seconds that a game that is over stays in the engine"
    )
    archive_url: str | None = Field(
        None,
        description="where finished games are archived, for every service: a folder (`file:///archive`) or a "
        "store (`s3://bucket/games`); left out: finished games are deleted in the end; all in one "
        "process: a folder beside the engine",
    )
    archived_stays_s: Annotated[float, Field(ge=0, le=3_153_600_000)] = Field(
        3_600.0,
        description="seconds that a finished game stays in the engine once it is archived; never longer than "
        "without an archive",
    )
    signing_key: SecretStr = Field(
        SecretStr(""),
        description="64 hex digits, with which the auditor signs finished games; without it they keep their "
        "streams; left out: the auditor doesn't start where there is an archive",
    )
    public_keys: str = Field(
        "",
        description="whose signature under archived games is believed: public keys, comma between, each with "
        "`@FROM..TO` (days of UTC on which the game was created) if it was used for a time only; "
        "`ledgerline public-key` prints yours; left out: the own signing key's; with an archive "
        "gateways and referees need one",
    )
    jobs_url: Annotated[str, Field(pattern=r"^(rediss?|unix)://")] | None = Field(
        None,
        description="the engine of the auditor's jobs; it can't be a cluster, so with a cluster it must be set; "
        "left out: the engine of the games",
    )
    webhooks: WebhookMode = Field(
        "https",
        description="which addresses webhooks may have: `https`, also `http`, or `off`. For gateways and "
        "auditors; the auditor sends them, so it must reach the internet",
    )
    webhook_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_split)] = (
        Field(
            (),
            description="private networks that webhooks may lead to (`192.168.1.0/24`), with commas between; none on "
            "which something trusts whoever reaches it",
        )
    )
    public_url: Annotated[str, Field(pattern=r"^(https?://[^/?#\s]+(/[^?#\s]*)?)?$")] = Field(
        "",
        description="the server's address as players have it (`https://play.example.org`); webhooks then name the "
        "table's page; left out: webhooks name no page",
    )
    push_key: SecretStr = Field(
        SecretStr(""),
        description="signs messages of Web Push; one for all gateways and auditors, 32 characters or more. `serve` makes "
        "one. With another key devices must be named again; left out: no device is told by Web Push",
    )
    remembers_mib: Annotated[int, Field(ge=0, le=1_048_576)] = Field(
        2_048,
        description="MiB of games that a referee caches, at most: some 55 folded games of four seats in a MiB, or "
        "three times as many packed ones. The process takes more: 2.0 GB with 2,048, 1.4 GB with 768 "
        "and most games packed",
    )
    decision_s: Annotated[float, Field(ge=0.1, le=60)] = Field(
        2.0,
        description="seconds that a decision may take before it is interrupted; the third time its command is a "
        "dead letter. Honest ones take milliseconds",
    )
    compiled_rules: bool = Field(
        True,
        description="the compiled rules decide, where there are any; `false`: pure Python always. Read from the "
        "environment alone",
    )
    token_key: SecretStr = Field(
        SecretStr(""),
        description="signs seat tokens; one for all gateways. 32 characters or more; several with commas between: "
        "the first signs; left out: the gateway doesn't start",
    )
    token_life_s: Annotated[int, Field(ge=60, le=MAX_LIFE_S)] = Field(
        DEFAULT_LIFE_S, description="how long a seat's token is good for: 30 days, rounded up to the next day"
    )
    own_boards: Literal["everyone", "operator", "nobody"] = Field(
        "everyone",
        description="who may create games on boards of their own or from positions, and fork such games: "
        "`everyone`, `operator` or `nobody`; others get 403, `OPERATOR-1`. Set `operator` on a server "
        "that strangers find",
    )
    operator_key: Annotated[SecretStr, AfterValidator(require_long_secret)] = Field(
        SecretStr(""),
        description="at least 32 characters. Whoever sends it as `Authorization: Bearer ...` is the operator, who "
        "may watch every game and create what `LEDGERLINE_OWN_BOARDS` reserves; left out: nobody is "
        "the operator",
    )
    host: str = Field(
        "127.0.0.1",
        description="the gateway's address; `0.0.0.0` in a container; left out, `ledgerline serve` takes all",
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8720, description="the gateway's port; 0 takes a free one"
    )
    rate: Annotated[float, Field(gt=0, le=10_000)] = Field(
        50,
        description="commands a second, per seat, and the budget of an address; four times as many at once",
    )
    read_rate: Annotated[float, Field(gt=0, le=10_000)] = Field(
        50,
        description="reads (every request that sends no command) and opened sockets a second, per address; four "
        "times as many at once",
    )
    connections: Annotated[int, Field(ge=1, le=100_000)] = Field(
        2_000, description="connections at once, over HTTP and WebSocket; more are answered 503 and closed"
    )
    connections_per_address: Annotated[int, Field(ge=1, le=100_000)] = Field(
        100, description="connections at once, per address; more are answered 429 and closed"
    )
    proxies: Annotated[tuple[IPv4Network | IPv6Network, ...] | None, NoDecode, BeforeValidator(_split)] = (
        Field(
            None,
            description="the proxies in front of the gateway: addresses or networks, with commas between "
            "(`172.18.0.2,10.1.0.0/16`); left out: X-Forwarded-For is believed from nobody",
        )
    )
    origins: Annotated[tuple[Origin, ...] | None, NoDecode, BeforeValidator(_split)] = Field(
        None,
        description="the origins whose pages may do both (`https://play.example.org`; CORS), with commas between; "
        "programs always may; left out: pages of every site may open sockets, only this server's own "
        "read other answers",
    )
    open_games: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        50,
        description="running games that one address, or one creator (a token's holder who forks, or the "
        "operator), created through this gateway, and MiB of the engine that all their games may take "
        "until they have left it; one more is refused (429, `RATE-1`)",
    )
    strict_engine: bool = Field(
        False,
        description="a gateway doesn't start on an engine whose settings break promises, or don't show "
        "(`--strict-engine` of `serve` and `gateway`)",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="`debug`, `info`, `warning` or `error`"
    )
    log_form: Literal["auto", "console", "json"] = Field(
        "auto", description="`json` or `console`; `auto`: `console` on a terminal"
    )
    metrics: Annotated[str, Field(pattern=r"^(\S+:\d{1,5})?$")] = Field(
        "",
        description="where Prometheus reads metrics, as `HOST:PORT`, never a player; `serve` takes the next two ports, "
        "too (referee, bots); left out: nothing is shown",
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


def archive_folder(settings: Settings) -> Path | None:
    """The folder that finished games go to; None where that is elsewhere, or nowhere."""
    url = urlsplit(settings.archive_url or "")
    return Path(unquote(url.path)) if url.scheme in {"file", "local"} else None


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
