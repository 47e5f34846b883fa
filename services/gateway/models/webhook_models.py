"""What the gateway answers about webhooks."""

from __future__ import annotations

from pydantic import Field

from services.gateway.models.response_models import ResponseModel


class WebhookSet(ResponseModel):
    """A webhook that was set. Its secret is shown here and nowhere else."""

    game: str
    seat: int
    url: str
    secret: str = Field(description="checks the signature of what is sent, as Standard Webhooks has it")


class WebhookState(ResponseModel):
    """A seat's webhook, if it has one, and what became of it."""

    game: str
    seat: int
    url: str | None = Field(description="null where the seat has none")
    notified: int | None = Field(description="the number of the entry that it was notified of last")
    failure: str | None = Field(description="why it couldn't be notified, and is to be once more")
