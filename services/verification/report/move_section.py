"""The disputed move on the arbiter's page: what was asked, what was answered, who saw what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from schemas import commands
from schemas.commands import write_command
from schemas.events import write_event
from schemas.field_types import Seat
from services.referee.rules import GameState
from services.referee.rules.seat_state import SeatState
from services.text.commands import describe_command, group_commands, sender_name
from services.text.formatting import city_name, format_cards, format_game_time, pluralize
from services.verification.explanation import Explanation, RuleCitation, Viewer, ViewerPerspective
from services.verification.report.board_svg import board_map
from services.verification.report.html import Html, bullet_list, el, grid, join_html, markdown, row

MAX_NEXT_CARDS = 5  # cards of the deck that are told: a draw takes no more of them


def move_section(explanation: Explanation) -> Html:
    """The section about one entry."""
    entry, before = explanation.entry, explanation.before
    command_text = describe_command(before, entry.seat, entry.command)
    return el(
        "section",
        el(
            "h2",
            f"Entry {explanation.sequence}: {sender_name(explanation.after, entry.seat)} wants to {command_text}",
        ),
        _verdict_section(explanation),
        *_rules_section(explanation.cited, entry.refusal is not None),
        *_state_before_section(explanation),
        el("h3", "Who saw what before it, and what each was told"),
        _perspectives_table(explanation),
        *_alternatives_section(explanation),
        el("h3", "What it changed"),
        _changes_section(explanation) if before.game else el("p", "It laid the table."),
        _raw_entry(explanation),
        id="move",
    )


# -- the verdict -------------------------------------------------------------------------------


def _verdict_section(explanation: Explanation) -> Html:
    entry, refusal, rules = explanation.entry, explanation.entry.refusal, explanation.after.ruleset
    time_text = f"{format_game_time(entry.at)} after the game was opened"
    if refusal is None:
        outcome = el("p", el("strong", "Accepted"), f", {time_text}.", class_="answer")
    else:
        refusal_text = f" by {refusal.rule}, {time_text}: {refusal.why}."
        outcome = el("p", el("strong", "Refused"), refusal_text, class_="answer")
    ruleset_text = f"version {rules.version} of the rules {rules.name}, with which the game began"
    if explanation.doubt:
        replay_note = el(
            "p",
            el("strong", "Not as the rules say. "),
            f"Decided again by {ruleset_text}: ",
            explanation.doubt,
        )
        return join_html((outcome, el("div", replay_note, class_="bad note", role="alert")))
    replay_note = el(
        "p", el("strong", "As the rules say. "), f"Decided again by {ruleset_text}: the same verdict."
    )
    sentences = [
        line.sentence for line in explanation.perspectives["referee"].narrated_events if line.sentence
    ]
    consequences = (
        el("div", el("p", "What came of it:"), bullet_list(sentences))
        if sentences and refusal is None
        else None
    )
    return join_html((outcome, el("div", replay_note, class_="good note"), consequences))


def _rules_section(cited: Sequence[RuleCitation], refused: bool) -> Iterator[Html]:
    """The rule that refused it stands open; those that it passed, or that nobody asked, are folded away."""
    if not cited:
        return
    yield el("h3", "The rule in words" if refused else "The rules of such a command")
    refused_by, others = (cited[:1], cited[1:]) if refused else ((), cited)
    yield from map(_citation, refused_by)
    if others:
        label = f"{'Other rules of such a command' if refused else 'In words'}: "
        summary = el("summary", label, ", ".join(rule.rule for rule in others))
        yield el("details", summary, *map(_citation, others))


def _citation(citation: RuleCitation) -> Html:
    passage = citation.passage if citation.passage.strip() != citation.sentence else ""
    sentence = el("p", el("strong", citation.rule), f" {citation.sentence}")
    return el("blockquote", sentence, markdown(passage) if passage else None)


# -- the table before --------------------------------------------------------------------------


def _state_before_section(explanation: Explanation) -> Iterator[Html]:
    state = explanation.before if explanation.before.game else explanation.after
    yield el("h3", "The table before it" if explanation.before.game else "The table that it laid")
    marked = _marked_places(explanation)
    yield el("figure", board_map(state, *marked), el("figcaption", legend(state, marked=any(marked))))


def _marked_places(explanation: Explanation) -> tuple[Sequence[str], Sequence[str]]:
    """The routes and the cities that the command names."""
    match explanation.entry.command:
        case commands.ClaimRoute(route=route, passenger=passenger):
            return (route,), (passenger,) if passenger else ()
        case commands.PayTunnel() | commands.DeclineTunnel() if explanation.before.tunnel:
            return (explanation.before.tunnel.route,), ()
        case commands.BuildStation(city=name):
            return (), (name,)
        case commands.MovePassenger(city=name, path=path):
            return path, (name,)
    return (), ()


def legend(state: GameState, *, marked: bool = False) -> Html:
    """Whose colour and number is whose, and what a halo means where there is one."""
    labels = []
    for seat, seat_state in enumerate(state.seats):
        disc = el("span", str(seat), class_=f"disc k-{seat}")
        labels.append(el("span", disc, f" {seat_state.name or 'free'}", class_="key"))
    return join_html(
        (*labels, el("span", el("span", "", class_="halo-key"), " what the command names", class_="key"))
    )


# -- who saw what ------------------------------------------------------------------------------


def _perspectives_table(explanation: Explanation) -> Html:
    """A column a viewer: what it knew before, and what it was told."""
    viewers = tuple(explanation.perspectives)
    names = ["", *(_viewer_name(explanation, viewer) for viewer in viewers)]
    before = {viewer: perspective.before for viewer, perspective in explanation.perspectives.items()}
    rows = [row("Sentences told", *(_sentences(explanation.perspectives[viewer]) for viewer in viewers))]
    if explanation.before.game:
        rows = [
            row("Market", *(_market_text(before[viewer]) for viewer in viewers)),
            row("Deck", *(_deck_text(before[viewer]) for viewer in viewers)),
            *(
                row(
                    f"{sender_name(explanation.before, seat)}",
                    *(_holding_cell(before[v], seat) for v in viewers),
                )
                for seat in range(len(explanation.before.seats))
            ),
            *rows,
        ]
    return grid(row(*names, head=True), rows, class_="sights")


def _viewer_name(explanation: Explanation, viewer: Viewer) -> str:
    return sender_name(explanation.after, viewer) if isinstance(viewer, int) else f"The {viewer}"


def _sentences(perspective: ViewerPerspective) -> Html:
    sentences = [line.sentence for line in perspective.narrated_events if line.sentence]
    if sentences:
        return bullet_list(sentences)
    return el(
        "span",
        "something that goes without saying" if perspective.narrated_events else "nothing",
        class_="quiet",
    )


def _market_text(state: GameState) -> str:
    return ", ".join(card or "-" for card in state.market) or "none"


def _deck_text(state: GameState) -> str:
    text = pluralize(len(state.deck), "card")
    next_cards = [card for card in reversed(state.deck[-MAX_NEXT_CARDS:]) if card is not None]
    return f"{text}; next: {', '.join(next_cards)}" if next_cards else text


def _holding_cell(state: GameState, seat: Seat) -> Html:
    seat_state = state.seats[seat]
    known_tickets = [ticket for ticket in seat_state.tickets if ticket is not None]
    offered = [ticket for ticket in seat_state.offer if ticket is not None]
    parts = [
        f"{pluralize(seat_state.cards, 'card')}{_hand_text(seat_state)}",
        f"{pluralize(len(seat_state.tickets), 'ticket')}{_tickets_text(state, known_tickets)}",
        f"is offered {len(seat_state.offer)}{_tickets_text(state, offered)}" if seat_state.offer else None,
    ]
    return join_html(el("div", part) for part in parts if part)


def _hand_text(seat_state: SeatState) -> str:
    """The cards that the viewer knows of, and how many more there are."""
    known_cards = {card: n for card, n in seat_state.hand.items() if card is not None and n > 0}
    hidden = seat_state.cards - sum(known_cards.values())
    parts = [format_cards(known_cards)] if known_cards else []
    parts += [f"{hidden} hidden"] if hidden else []
    return f": {', '.join(parts)}" if known_cards else ""


def _tickets_text(state: GameState, tickets: Sequence[str]) -> str:
    board_tickets = [state.board.tickets[ticket] for ticket in tickets]
    texts = (f"{city_name(state, t.a)} - {city_name(state, t.b)} ({t.points})" for t in board_tickets)
    return f": {', '.join(texts)}" if board_tickets else ""


# -- what else, and what came of it ------------------------------------------------------------


def _alternatives_section(explanation: Explanation) -> Iterator[Html]:
    yield el("h3", "What the seat could have done")
    seat = explanation.entry.seat
    if seat is None or not explanation.alternatives:
        yield el("p", _no_alternatives(explanation))
        return
    kinds = group_commands(explanation.before, seat, explanation.alternatives)
    rows = (row(kind, "; ".join(ways)) for kind, ways in kinds)
    summary = el(
        "summary", f"{pluralize(len(explanation.alternatives), 'legal command')}, and to leave the table"
    )
    ways_table = grid(row("what", "how", head=True), rows, class_="ways")
    yield el("details", summary, ways_table, open=len(kinds) <= 12)


def _no_alternatives(explanation: Explanation) -> str:
    if explanation.entry.seat is None:
        return "The house spoke: it has no choice of moves."
    pending = ", ".join(
        f"{sender_name(explanation.before, s)} ({c})" for s, c in explanation.before.pending_choices.items()
    )
    return f"Nothing: the table didn't wait for it. It waited for {pending or 'nobody'}."


def _changes_section(explanation: Explanation) -> Html:
    before, after = explanation.before, explanation.after
    if explanation.entry.refusal and before.pending_choices == after.pending_choices:
        return el("p", f"Nothing but the time. {_pending_text(before, after)}")
    rows = []
    for seat, (was, now) in enumerate(zip(before.seats, after.seats, strict=True)):
        cells = zip(_seat_counts(was), _seat_counts(now), strict=True)
        rows.append(row(sender_name(after, seat), *(_change_cell(*cell) for cell in cells)))
    heading = row("", "points", "cars", "cards", "tickets", "offered", "routes", head=True)
    return join_html((grid(heading, rows, class_="figures"), el("p", _pending_text(before, after))))


def _seat_counts(seat_state: SeatState) -> tuple[int, ...]:
    lists = (seat_state.tickets, seat_state.offer, seat_state.routes)
    return (seat_state.points, seat_state.cars, seat_state.cards, *(len(values) for values in lists))


def _pending_text(before: GameState, after: GameState) -> str:
    def pending_seats(state: GameState) -> str:
        return (
            ", ".join(f"{sender_name(state, s)} ({choice})" for s, choice in state.pending_choices.items())
            or "nobody"
        )

    was, now = pending_seats(before), pending_seats(after)
    if was == now:
        return f"The table waits for {now}, as before."
    return f"The table waited for {was}; now it waits for {now}."


def _change_cell(was: int, now: int) -> Html:
    return el("strong", f"{was} → {now}") if was != now else el("span", str(now))


def _raw_entry(explanation: Explanation) -> Html:
    entry = explanation.entry
    fields: Mapping[str, object] = {
        "id": entry.id,
        "seat": entry.seat,
        "at": entry.at,
        "command": write_command(entry.command),
        "events": [write_event(event) for event in entry.events],
    }
    code = el("pre", el("code", json.dumps(fields, ensure_ascii=False, indent=1)), tabindex="0")
    return el("details", el("summary", "The entry to the letter"), code)
