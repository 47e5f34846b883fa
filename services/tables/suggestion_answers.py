"""The values of a seat's candidates as sentences for a player, and as the gateway's answer."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import write_command
from schemas.field_types import Seat
from services.bots.searching.candidate_values import CandidateValue
from services.gateway.models.table_models import SuggestedCommand, Suggestions
from services.referee.rules import GameState
from services.text.commands import describe_command
from services.text.formatting import pluralize


def suggestions(
    state: GameState, seat: Seat, number: int, candidates: Sequence[CandidateValue]
) -> Suggestions:
    """The answer, the best candidate first."""
    return Suggestions(
        game=state.game,
        seat=seat,
        number=number,
        commands=[
            SuggestedCommand(
                command=write_command(each.command),
                text=describe_command(state, seat, each.command),
                why=_reason(each, candidates[0]),
                points=_rounded(each.points),
                points_error=_rounded(each.points_error),
                lead=_rounded(each.lead),
                lead_error=_rounded(each.lead_error),
                games=each.rollouts,
            )
            for each in candidates
        ],
    )


def _reason(candidate: CandidateValue, best: CandidateValue) -> str:
    """Why it comes where it does."""
    if candidate.points is None or candidate.lead is None or best.lead is None:
        if candidate is best:
            return "What the bot planner would do; nothing else was worth playing out."
        return "Not played out: others looked better early."
    played = pluralize(candidate.rollouts, "game")
    expected = f"You end with about {candidate.points:.0f} points"
    if candidate.lead >= 0:
        expected += f", {candidate.lead:.0f} ahead of the best other seat"
    else:
        expected += f", {-candidate.lead:.0f} behind the best other seat"
    sentences = [f"{expected}: the mean of {played} played out from here."]
    if candidate is not best:
        sentences.append(_comparison(candidate, best))
    elif candidate.is_planners:
        sentences.append("The bot planner would do the same.")
    return " ".join(sentences)


def _comparison(candidate: CandidateValue, best: CandidateValue) -> str:
    assert candidate.lead is not None and best.lead is not None, "both were played out"
    loss = best.lead - candidate.lead
    error = ((candidate.lead_error or 0.0) ** 2 + (best.lead_error or 0.0) ** 2) ** 0.5
    if loss <= 0:
        return "Its lead is larger, but too few games show it."
    surely = "" if loss > 2 * error else ", which may be chance"
    return f"Its lead is {loss:.1f} points smaller than the first's{surely}."


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
