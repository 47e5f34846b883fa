"""Bodies of requests, for OpenAPI.

The contracts of schemas/ read the bodies themselves (request_parsing.py, service.py): their errors name the
field and the rule, and nothing is read before the caller may send it. These models declare the same fields.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import JsonSchemaValue, models_json_schema

from schemas.access import GameVisibility, SpectatorDelay, UndoPolicy
from schemas.commands import Policy, SeatPlan
from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY
from schemas.field_types import Age, Bool, Hex32, Int, JsonObject, Name, Seat, Slug, Text
from schemas.forks import SequenceNumber
from schemas.published_contracts import in_order
from schemas.schema_components import contract_components, simplify
from schemas.trains.positions import Position
from schemas.web.disputes import MAX_REASON_LENGTH
from schemas.web.webhooks import MAX_URL_LENGTH
from services.gateway.models.contract_schemas import option_components, refers_to
from services.gateway.models.explanation_models import ANSWER_PARTS
from services.gateway.models.response_models import Problem

SCHEMA_PATH: Final = "#/components/schemas/{model}"


class RequestModel(BaseModel):
    """Base of the bodies: a field that the model doesn't declare is refused."""

    model_config = ConfigDict(extra="forbid")


class CreateGameRequest(RequestModel):
    """A new game: which rules, which board, who plays, what differs from the usual."""

    seats: Annotated[list[SeatPlan], Field(min_length=1, max_length=8)]
    ruleset: Annotated[
        Slug | None, Field(description="else the one that the board is usually played with")
    ] = None
    board: Annotated[
        Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,39}$")]
        | Annotated[JsonObject, refers_to("BoardForm")]
        | None,
        Field(description="a built-in board's name, or a board of your own; else the ruleset's own"),
    ] = None
    seed: Annotated[
        Text | None,
        Field(
            min_length=1,
            max_length=64,
            description="games of bots alone are dealt by it; where a person may sit it is mixed with random bytes",
        ),
    ] = None
    options: Annotated[JsonObject, refers_to("RuleOptionChoices")] | None = None
    clock: Annotated[
        Slug | None,
        Field(description="a clock by name: GET /v1/rulesets lists them; `options` may set it otherwise"),
    ] = None
    position: Annotated[Position | None, Field(description="to start from, in place of a deal")] = None
    visibility: Annotated[
        GameVisibility | None,
        Field(
            description="public: listed; unlisted: watched by who knows the id; players: by who holds a token of it. Else unlisted"
        ),
    ] = None
    spectator_delay: Annotated[
        SpectatorDelay | None,
        Field(description="how many entries late the public view is until the game is over; else none"),
    ] = None
    by_invitation: Annotated[
        Bool | None, Field(description="a seat is taken only with the invitation that its host gives")
    ] = None
    suggestions: Annotated[
        Bool | None,
        Field(description="whether seats may ask for suggestions while the game is played; else they may"),
    ] = None
    undo: Annotated[
        UndoPolicy | None,
        Field(
            description="whether a seat takes back its last move that showed nothing hidden: consent: if the others agree; free; else never"
        ),
    ] = None


class JoinRequest(RequestModel):
    """A free seat: this one, or the first."""

    name: Name
    seat: Seat | None = None
    age: Annotated[
        Age | None, Field(description="in whole years; counts where the oldest or the youngest begins")
    ] = None
    contribution: Annotated[Hex32 | None, Field(description="32 random bytes of your own, in hex")] = None
    invitation: Annotated[
        Text | None,
        Field(description="to this seat; in a fork the token of the same seat of the first game does too"),
    ] = None


class SeatBotRequest(RequestModel):
    """The bot that takes a free seat."""

    policy: Policy


class ForkRequest(RequestModel):
    """The entry after which the new game goes on."""

    at: Annotated[SequenceNumber, Field(description="the number of an entry")]


class DisputeRequest(RequestModel):
    """The disputed entry, and why it is disputed."""

    number: Annotated[Int, Field(ge=1, description="the number of an entry")]
    reason: Annotated[Text, Field(min_length=1, max_length=MAX_REASON_LENGTH)]


class NewWebhook(RequestModel):
    """The web address to be notified when the seat is asked for something."""

    url: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=MAX_URL_LENGTH,
            description="https, unless the server allows http too; it must lead to a public address",
        ),
    ]
    secret: Annotated[
        Text | None,
        Field(
            description="whsec_ and 24 to 64 random bytes in base64, to sign with; else the server makes one"
        ),
    ] = None


REQUEST_MODELS: Final = (
    CreateGameRequest,
    JoinRequest,
    SeatBotRequest,
    ForkRequest,
    DisputeRequest,
    NewWebhook,
)


def component_schemas() -> dict[str, JsonSchemaValue]:
    """The JSON schemas that no route declares to FastAPI, by the names that `SCHEMA_PATH` refers to."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in (*REQUEST_MODELS, *ANSWER_PARTS, Problem)],
        ref_template=SCHEMA_PATH,
    )
    schemas = {
        **simplify(definitions["$defs"]),
        **contract_components(in_order(EVENT_REGISTRY.classes), in_order(COMMAND_REGISTRY.classes)),
        **option_components(),
    }
    del schemas["SeatPlan"]["properties"]["name_commitment"]  # in a log alone
    return schemas
