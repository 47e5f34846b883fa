"""Parts of explanations of moves and audits, for the OpenAPI document.

services/verification writes them; nothing here is checked when they are sent, and tests compare.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from services.gateway.models.response_models import ResponseModel, refers_to
from services.gateway.models.trains import ExplainedTable

AnyCommand = Annotated[dict[str, object], refers_to("Command")]
AnyEvent = Annotated[dict[str, object], refers_to("Event")]
CheckKind = Literal["chain", "signature", "deal", "view", "verdict", "fold"]


class Perspective(ResponseModel):
    """An entry as one viewer saw it."""

    before: ExplainedTable
    events: list[AnyEvent]
    sentences: list[str]
    after: ExplainedTable


class RefusedBy(ResponseModel):
    """The rule that refused a command, and why."""

    rule: str
    why: str


class CitedRule(ResponseModel):
    """A rule that concerns the move."""

    rule: str
    sentence: str
    passage: str = Field(description="of the ruleset's page, in markdown")


class ExplainedMove(ResponseModel):
    """An entry, explained. What its asker may not know is left out."""

    number: int
    at: int | SkipJsonSchema[None] = None
    id: str | None = None
    seat: int | None = None
    speaker: str | SkipJsonSchema[None] = None
    command: AnyCommand | SkipJsonSchema[None] = None
    wish: str | SkipJsonSchema[None] = Field(default=None, description="the command in words")
    accepted: bool | SkipJsonSchema[None] = None
    refusal: RefusedBy | None = None
    as_the_rules_say: bool | SkipJsonSchema[None] = None
    doubt: str | None = Field(default=None, description="how the verdict differs from what the rules decide")
    rules: list[CitedRule] | SkipJsonSchema[None] = None
    legal: list[AnyCommand] | SkipJsonSchema[None] = Field(
        default=None, description="what the seat could have done"
    )
    seen: dict[str, Perspective] | SkipJsonSchema[None] = Field(
        default=None, description="by viewer: a seat, `public`, or `referee`"
    )
    unreadable: str | SkipJsonSchema[None] = Field(default=None, description="why it can't be explained")


class AuditFinding(ResponseModel):
    """One thing that is wrong."""

    number: int | None = Field(description="the entry; null: the game as a whole")
    kind: CheckKind
    why: str


class AuditReport(ResponseModel):
    """Every check of a finished game. Without findings nothing is wrong."""

    game: str
    ok: bool
    verdict: str = Field(description="the sentence to read first")
    entries: int
    findings: list[AuditFinding]
    checked: list[CheckKind]
    unchecked: dict[str, str] = Field(description="what could not be checked, and why")
    deal: str = Field(description="who could have chosen the deal")
    move: ExplainedMove | SkipJsonSchema[None] = Field(default=None, description="the entry that was named")


class PublicKey(ResponseModel):
    """A key that signs finished games, and when the games were created that it may have signed."""

    key: str = Field(description="Ed25519, as 64 hex digits")
    since: datetime | None = Field(description="null: from the first game on")
    before: datetime | None = Field(description="null: to this day")


class PublicKeys(ResponseModel):
    """Whose signature of a game's file is this server's."""

    keys: list[PublicKey]


class DisputeAnswer(ResponseModel):
    """The answer to a dispute: of `scope` `so far` while the game goes on, else `whole`, with the audit's fields."""

    scope: Literal["so far", "whole"]
    verdict: str = Field(description="the sentence to read first")
    on_reason: str | SkipJsonSchema[None] = Field(
        default=None,
        description="the seats, cards, places, rules and entries that the reason names, looked up",
    )
    number: int | SkipJsonSchema[None] = None
    shown_as_committed: bool | SkipJsonSchema[None] = None
    as_the_rules_say: bool | None = None
    game: str | SkipJsonSchema[None] = None
    ok: bool | SkipJsonSchema[None] = None
    entries: int | SkipJsonSchema[None] = None
    findings: list[AuditFinding] | SkipJsonSchema[None] = None
    checked: list[CheckKind] | SkipJsonSchema[None] = None
    unchecked: dict[str, str] | SkipJsonSchema[None] = None
    deal: str | SkipJsonSchema[None] = None
    move: ExplainedMove | SkipJsonSchema[None] = None


ANSWER_PARTS: Final = (DisputeAnswer,)
