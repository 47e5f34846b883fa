"""Answers: every success is one of these models, and OpenAPI shows them.

Fields that an answer may lack are left unset, and handlers leave unset fields out.

A model refers to a contract of schemas/, which is a component of the OpenAPI document, with `refers_to`;
`resolve_references` makes these marks into references, because pydantic knows no schema that it didn't make itself.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict  # pydantic can't read typing's before Python 3.12

from schemas.contract import Json
from schemas.published_contracts import COMPONENTS
from schemas.web.webhooks import BodyForm

MARK: Final = "x-component"
JSON_SCHEMA: Final[Json] = {
    "description": "A JSON Schema, of the keywords that rule options need.",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "enum": {"type": "array", "items": {"type": "string"}},
        **{
            keyword: {"type": "integer"}
            for keyword in (
                "minimum",
                "maximum",
                "minItems",
                "maxItems",
                "minLength",
                "maxLength",
                "maxProperties",
            )
        },
        "pattern": {"type": "string"},
        **{
            keyword: {"anyOf": [{"$ref": f"{COMPONENTS}OptionType"}, {"type": "boolean"}]}
            for keyword in ("items", "additionalProperties")
        },
        "propertyNames": {"$ref": f"{COMPONENTS}OptionType"},
        "anyOf": {"type": "array", "items": {"$ref": f"{COMPONENTS}OptionType"}},
        "patternProperties": {
            "type": "object",
            "additionalProperties": {"$ref": f"{COMPONENTS}OptionType"},
        },
        "title": {"type": "string"},
    },
    "additionalProperties": False,
}
_NUMBERS: Final[Json] = {"type": "array", "items": {"type": ["null", "integer"]}}
OPTION_VALUE: Final[Json] = {
    "description": "A rule option's value.",  # written out: generated clients know no schema that contains itself
    "anyOf": [
        {"type": "null"},
        {"type": "boolean"},
        {"type": "integer"},
        {"type": "string"},
        _NUMBERS,
        {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, _NUMBERS]}},
    ],
}


def refers_to(component: str) -> WithJsonSchema:
    """The mark of a field that is of this component."""
    return WithJsonSchema({MARK: component})


def resolve_references(schema: Any) -> Any:  # any JSON value, and one of the same type
    """The schema with a reference for each mark."""
    if isinstance(schema, list):
        return [resolve_references(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    resolved = {key: resolve_references(part) for key, part in schema.items() if key != MARK}
    return {**resolved, "$ref": COMPONENTS + schema[MARK]} if MARK in schema else resolved


def option_components() -> dict[str, Json]:
    """The components that no contract has: how an option is described."""
    return {"OptionType": JSON_SCHEMA, "OptionValue": OPTION_VALUE}


def _drop_null_defaults(schema: JsonDict) -> None:
    """A field whose default is None is left out of the answer; it is never null."""
    properties = schema.get("properties")
    for field in properties.values() if isinstance(properties, dict) else ():
        if isinstance(field, dict) and field.get("default", "") is None:
            del field["default"]


# a value of an enumeration, not a constant: generated clients refuse whatever isn't the constant, an integer too
Viewer: TypeAlias = int | Annotated[Literal["public"], WithJsonSchema({"type": "string", "enum": ["public"]})]


class ResponseModel(BaseModel):
    """Base of the answers: a field that the model doesn't declare is a bug."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_drop_null_defaults)


# -- games -----------------------------------------------------------------------------------


class Decision(ResponseModel):
    """The entry that a command made."""

    number: int = Field(description="of the entry")
    level: str = Field(description="how durable it is")
    head: str | None = Field(description="of the chain after the entry, in hex; null where it isn't known")


class TakenSeat(ResponseModel):
    """A seat that is taken from the start."""

    seat: int
    name: str
    policy: str | None = Field(description="of a bot")


class SeatInvitation(ResponseModel):
    """What opens a free seat, once: give it to who may take it, as you would a token."""

    seat: int
    invitation: str


class _NewGame(ResponseModel):
    game: str
    token: str = Field(description="the host's: it starts the game")
    taken: list[TakenSeat]
    invitations: list[SeatInvitation] = Field(description="to the seats that are free")


class GameCreated(Decision, _NewGame):
    """A new game, and its host's token."""


class GameForked(GameCreated):
    """A new game that goes on from where another one stood."""

    of: str = Field(description="the other game")
    at: int = Field(description="the number of its last entry that counts")
    afresh: bool = Field(description="what the asker couldn't see was dealt again")
    seat: int | SkipJsonSchema[None] = Field(
        default=None, description="the asker's in the new game, while the other goes on"
    )
    seat_token: str | SkipJsonSchema[None] = None


class _SeatHeld(ResponseModel):
    game: str
    seat: int
    token: str = Field(description="the seat's: it shows this seat's view and sends its commands")


class SeatJoined(Decision, _SeatHeld):
    """A seat that was taken, and its token."""


class TokenIssued(ResponseModel):
    """A new token; those that its holder was given before open nothing any more."""

    game: str
    seat: int | None = Field(description="null for the host's token")
    token: str


class _StartedGame(ResponseModel):
    game: str


class GameStarted(Decision, _StartedGame):
    """A game whose cards are dealt."""


class GameClosed(Decision, _StartedGame):
    """A game that its host has ended."""


class PlayOffSeat(_SeatHeld):
    """A seat in the play-off."""


class Rematch(ResponseModel):
    """A new game of the same people by the same rules, and the place that it keeps for you."""

    game: str | None = Field(description="null while nobody has offered one")
    seat: int | None = Field(
        description="yours in both games; null where your token is no seat's, or a bot has it"
    )
    invitation: str | None = Field(description="to that seat, which you take by it")
    token: str | None = Field(description="the new host's, where yours is the host's")


# -- play ------------------------------------------------------------------------------------


class Proof(TypedDict):
    """The very bytes of an entry that the chain is made of, in base64 (docs/reference/proof.md)."""

    public: str
    part: str | None


class EntryBody(TypedDict):
    """An entry as the viewer may see it."""

    number: int
    at: int
    answers: str | None
    events: list[Annotated[dict[str, object], refers_to("Event")]]
    head: str | None
    proof: NotRequired[Proof]
    legal: NotRequired[
        list[Annotated[dict[str, object], refers_to("PlayerCommand")]]
    ]  # on the latest entry, if it was asked for


class CommandAccepted(ResponseModel):
    """A command that the referee accepted, and the entry that it made."""

    id: str = Field(description="the command's")
    verdict: Literal["accepted"]
    level: str
    number: int
    head: str | None
    entry: EntryBody


class UnknownVerdict(ResponseModel):
    """A command whose verdict isn't known, or isn't as sure as was asked."""

    id: str = Field(description="the command's")
    verdict: Literal["unknown"]
    level: str | None = Field(
        description="the level that was reached; null: not even accepted, for all we know"
    )
    number: int | SkipJsonSchema[None] = Field(default=None, description="of the entry, where one is known")
    detail: str


class ViewPage(ResponseModel):
    """A page of a view."""

    game: str
    viewer: Viewer
    entries: list[EntryBody]
    next: int = Field(description="the number to go on from: the next page's `after`")
    more: bool


# -- disputes --------------------------------------------------------------------------------


class DisputeRaised(ResponseModel):
    """A dispute that waits for its answer."""

    dispute: str
    game: str
    number: int = Field(description="of the disputed entry")
    address: str = Field(description="where its answer will be")


class _DisputeState(ResponseModel):
    dispute: str
    game: str
    seat: int | None = Field(description="who raised it; null is the operator")
    number: int
    reason: str
    since: str = Field(description="a date and time")
    state: str
    final: bool = Field(description="nothing will change any more")


class Dispute(_DisputeState):
    """A dispute, with its answer once there is one."""

    answer: Annotated[dict[str, object], refers_to("DisputeAnswer")] | None


class ListedDispute(_DisputeState):
    """A dispute without its answer."""

    address: str


class DisputeList(ResponseModel):
    """The disputes of a seat, the latest first."""

    game: str
    disputes: list[ListedDispute]


# -- the server ------------------------------------------------------------------------------


class RuleIndex(ResponseModel):
    """All rulesets, and all rule ids with the sentence of their refusal where there is one."""

    rulesets: list[str]
    rules: dict[str, str | None]


class RulesetPage(ResponseModel):
    """A ruleset's page."""

    ruleset: str
    markdown: str


class RulePassages(ResponseModel):
    """What a rule's refusal states, and what the pages state of it, by ruleset, in markdown."""

    rule: str
    text: str | None
    passages: dict[str, str]


class FieldError(ResponseModel):
    """A field of a request that is wrong."""

    field: str = Field(description="its path, from the outside in: `seats.0.kind`")
    detail: str = Field(description="what is wrong with it, in words that follow its name")


class Problem(ResponseModel):
    """An error, as RFC 9457 describes it."""

    type: str = Field(json_schema_extra={"format": "uri-reference"})
    title: str
    status: int
    detail: str | SkipJsonSchema[None] = None
    rule: str | SkipJsonSchema[None] = None
    field: str | SkipJsonSchema[None] = Field(default=None, description="the first that is wrong")
    errors: list[FieldError] | SkipJsonSchema[None] = Field(
        default=None, description="all fields that are wrong"
    )
    id: str | SkipJsonSchema[None] = Field(default=None, description="the command's")
    number: int | SkipJsonSchema[None] = Field(
        default=None, description="of the entry, where the refusal is one"
    )
    level: str | None = Field(
        default=None,
        description="how durable it is; rejected: there is no entry; null: not even accepted, for all we know",
    )
    head: str | None = Field(default=None, description="of the chain after that entry")
    entry: EntryBody | None = Field(default=None, description="with ID-1: the verdict on the other command")
    asked: str | SkipJsonSchema[None] = Field(
        default=None, description="with LEVEL-1: the level that was asked for"
    )
    verdict: Literal["unknown"] | SkipJsonSchema[None] = None
    retry_after: int | SkipJsonSchema[None] = Field(default=None, description="seconds")


class WebhookSet(ResponseModel):
    """A webhook that was set. Its secret is shown here and nowhere else."""

    game: str
    seat: int
    url: str
    secret: str = Field(description="checks the signature of what is sent, as Standard Webhooks has it")
    form: BodyForm = Field(description="whose form the body has")


class PushKey(ResponseModel):
    """The server's key for Web Push."""

    key: str | None = Field(
        description="what a browser subscribes with, as `applicationServerKey`, in base64url; null where none is told"
    )


class PushState(ResponseModel):
    """How many devices of a seat are told by Web Push."""

    game: str
    seat: int
    devices: int


class WebhookState(ResponseModel):
    """A seat's webhook, if it has one, and what became of it."""

    game: str
    seat: int
    url: str | None = Field(description="null where the seat has none")
    form: BodyForm | None = Field(description="whose form the body has")
    notified: int | None = Field(description="the number of the entry that it was notified of last")
    failure: str | None = Field(description="why it couldn't be notified, and is to be once more")


class OptionDescription(ResponseModel):
    """A rule option: its type as JSON Schema, its defaults in this ruleset, and what it means."""

    name: str
    type: Annotated[dict[str, object], refers_to("OptionType")]
    default: Annotated[object, refers_to("OptionValue")] = Field(description="at a table of bots alone")
    default_with_people: Annotated[object, refers_to("OptionValue")] = Field(
        description="at a table with a seat for a person, which other people's programs take too"
    )
    meaning: str


class RulesetDescription(ResponseModel):
    """A ruleset and what may be chosen in it."""

    name: str
    title: str
    version: int
    meaning: str
    default_board: str | None = Field(description="null where the game is played on no board")
    seats_least: int
    seats_most: int
    policies: list[str] = Field(description="of the bots that can play it")
    options: list[OptionDescription]


class ClockPreset(ResponseModel):
    """A way to limit time, by name: what a creation's `clock` may be."""

    name: str
    title: str
    meaning: str
    options: dict[str, int | None]


class RulesetList(ResponseModel):
    """The rulesets, and the clock presets that suit all of them."""

    rulesets: list[RulesetDescription]
    clocks: list[ClockPreset]


class Health(ResponseModel):
    """Whether entries reach those who follow games; `deaf` with status 503 where they don't."""

    status: Literal["ok", "deaf"]


class Liveness(ResponseModel):
    """The gateway's process answers; nothing else is asked."""

    status: Literal["ok"] = "ok"


class EngineHealth(ResponseModel):
    """Whether the engine takes writes: the worst of its nodes."""

    status: Literal["ok", "away", "refuses writes"]


class MemberHealth(ResponseModel):
    """A referee, a bots worker or an auditor, and how long ago this gateway saw its last sign."""

    name: str
    last_sign_s: float


class WaitingTasks(ResponseModel):
    """The commands without a verdict, and the tasks of bots."""

    commands: int
    oldest_s: float | None = Field(description="how long this gateway has seen the oldest of them wait")
    stalled_partitions: list[int] = Field(description="those where that is 10 s or longer")
    bot_tasks: int


class Readiness(ResponseModel):
    """Whether commands can be expected to get their verdicts: `unready` with status 503 where they can't,
    `degraded` where that is so for a part of them, a service is missing, or a promise is broken."""

    status: Literal["ok", "degraded", "unready"]
    problems: list[str] = Field(description="what is wrong and what to do, in sentences")
    engine: EngineHealth
    referees: list[MemberHealth]
    bots: list[MemberHealth]
    auditors: list[MemberHealth]
    waiting: WaitingTasks
