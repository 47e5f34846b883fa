"""The disputed move on the arbiter's page: what was asked, what was answered, who saw what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from schemas import commands as wishes
from schemas.commands import write_command
from schemas.events import write_event
from schemas.field_types import Seat
from services.referee.rules import Table
from services.referee.rules.table import Place
from services.text.commands import gathered, speaker, wish
from services.text.events import cards, city, count
from services.text.formatting import clock
from services.verification.explanation import Cited, Explained, Sight, Viewer
from services.verification.report.board_svg import board_map
from services.verification.report.html import Html, el, grid, items, markdown, row, run

NEXT_MOST = 5  # cards of the deck that are told: a draw takes no more of them


def move(told: Explained) -> Html:
    """The section about one entry."""
    entry, before = told.entry, told.before
    said = wish(before, entry.seat, entry.command)
    return el(
        "section",
        el("h2", f"Entry {told.number}: {speaker(told.after, entry.seat)} wants to {said}"),
        _verdict(told),
        *_rules(told.cited, entry.refusal is not None),
        *_table_before(told),
        el("h3", "Who saw what before it, and what each was told"),
        _sights(told),
        *_alternatives(told),
        el("h3", "What it changed"),
        _changes(told) if before.game else el("p", "It laid the table."),
        _to_the_letter(told),
        id="move",
    )


# -- the verdict -------------------------------------------------------------------------------


def _verdict(told: Explained) -> Html:
    entry, refusal, rules = told.entry, told.entry.refusal, told.after.rules
    when = f"{clock(entry.at)} after the game was opened"
    if refusal is None:
        was = el("p", el("strong", "Accepted"), f", {when}.", class_="answer")
    else:
        no = f" by {refusal.rule}, {when}: {refusal.why}."
        was = el("p", el("strong", "Refused"), no, class_="answer")
    edition = f"version {rules.version} of the rules {rules.name}, with which the game began"
    if told.doubt:
        again = el("p", el("strong", "Not as the rules say. "), f"Decided again by {edition}: ", told.doubt)
        return run((was, el("div", again, class_="bad note", role="alert")))
    again = el("p", el("strong", "As the rules say. "), f"Decided again by {edition}: the same verdict.")
    happened = [line.sentence for line in told.sights["referee"].told if line.sentence]
    came = el("div", el("p", "What came of it:"), items(happened)) if happened and refusal is None else None
    return run((was, el("div", again, class_="good note"), came))


def _rules(cited: Sequence[Cited], refused: bool) -> Iterator[Html]:
    """The rule that refused it stands open; those that it passed, or that nobody asked, are folded away."""
    if not cited:
        return
    yield el("h3", "The rule in words" if refused else "The rules of such a command")
    first, others = (cited[:1], cited[1:]) if refused else ((), cited)
    yield from map(_cited, first)
    if others:
        told = f"{'Other rules of such a command' if refused else 'In words'}: "
        summary = el("summary", told, ", ".join(rule.rule for rule in others))
        yield el("details", summary, *map(_cited, others))


def _cited(rule: Cited) -> Html:
    passage = rule.passage if rule.passage.strip() != rule.sentence else ""
    sentence = el("p", el("strong", rule.rule), f" {rule.sentence}")
    return el("blockquote", sentence, markdown(passage) if passage else None)


# -- the table before --------------------------------------------------------------------------


def _table_before(told: Explained) -> Iterator[Html]:
    table = told.before if told.before.game else told.after
    yield el("h3", "The table before it" if told.before.game else "The table that it laid")
    marked = _marked(told)
    yield el("figure", board_map(table, *marked), el("figcaption", legend(table, marked=any(marked))))


def _marked(told: Explained) -> tuple[Sequence[str], Sequence[str]]:
    """The routes and the cities that the command names."""
    match told.entry.command:
        case wishes.ClaimRoute(route=route, passenger=passenger):
            return (route,), (passenger,) if passenger else ()
        case wishes.PayTunnel() | wishes.DeclineTunnel() if told.before.tunnel:
            return (told.before.tunnel.route,), ()
        case wishes.BuildStation(city=name):
            return (), (name,)
        case wishes.MovePassenger(city=name, path=path):
            return path, (name,)
    return (), ()


def legend(table: Table, *, marked: bool = False) -> Html:
    """Whose colour and number is whose, and what a halo means where there is one."""
    keys = []
    for seat, place in enumerate(table.places):
        disc = el("span", str(seat), class_=f"disc k-{seat}")
        keys.append(el("span", disc, f" {place.name or 'free'}", class_="key"))
    return run(
        (*keys, el("span", el("span", "", class_="halo-key"), " what the command names", class_="key"))
    )


# -- who saw what ------------------------------------------------------------------------------


def _sights(told: Explained) -> Html:
    """A column a viewer: what it knew before, and what it was told."""
    viewers = tuple(told.sights)
    names = ["", *(_viewer(told, viewer) for viewer in viewers)]
    before = {viewer: sight.before for viewer, sight in told.sights.items()}
    rows = [row("Sentences told", *(_sentences(told.sights[viewer]) for viewer in viewers))]
    if told.before.game:
        rows = [
            row("Market", *(_market(before[viewer]) for viewer in viewers)),
            row("Deck", *(_deck(before[viewer]) for viewer in viewers)),
            *(
                row(f"{speaker(told.before, seat)}", *(_holding(before[v], seat) for v in viewers))
                for seat in range(len(told.before.places))
            ),
            *rows,
        ]
    return grid(row(*names, head=True), rows, class_="sights")


def _viewer(told: Explained, viewer: Viewer) -> str:
    return speaker(told.after, viewer) if isinstance(viewer, int) else f"The {viewer}"


def _sentences(sight: Sight) -> Html:
    said = [line.sentence for line in sight.told if line.sentence]
    if said:
        return items(said)
    return el("span", "something that goes without saying" if sight.told else "nothing", class_="quiet")


def _market(table: Table) -> str:
    return ", ".join(card or "-" for card in table.market) or "none"


def _deck(table: Table) -> str:
    told = count(len(table.deck), "card")
    coming = [card for card in reversed(table.deck[-NEXT_MOST:]) if card is not None]
    return f"{told}; next: {', '.join(coming)}" if coming else told


def _holding(table: Table, seat: Seat) -> Html:
    place = table.places[seat]
    known = [ticket for ticket in place.tickets if ticket is not None]
    offered = [ticket for ticket in place.offer if ticket is not None]
    parts = [
        f"{count(place.cards, 'card')}{_hand(place)}",
        f"{count(len(place.tickets), 'ticket')}{_tickets(table, known)}",
        f"is offered {len(place.offer)}{_tickets(table, offered)}" if place.offer else None,
    ]
    return run(el("div", part) for part in parts if part)


def _hand(place: Place) -> str:
    """The cards that the viewer knows of, and how many more there are."""
    known = {card: n for card, n in place.hand.items() if card is not None and n > 0}
    hidden = place.cards - sum(known.values())
    parts = [cards(known)] if known else []
    parts += [f"{hidden} hidden"] if hidden else []
    return f": {', '.join(parts)}" if known else ""


def _tickets(table: Table, tickets: Sequence[str]) -> str:
    known = [table.board.tickets[ticket] for ticket in tickets]
    told = (f"{city(table, t.a)} - {city(table, t.b)} ({t.points})" for t in known)
    return f": {', '.join(told)}" if known else ""


# -- what else, and what came of it ------------------------------------------------------------


def _alternatives(told: Explained) -> Iterator[Html]:
    yield el("h3", "What the seat could have done")
    seat = told.entry.seat
    if seat is None or not told.alternatives:
        yield el("p", _nothing(told))
        return
    kinds = gathered(told.before, seat, told.alternatives)
    rows = (row(kind, "; ".join(ways)) for kind, ways in kinds)
    summary = el("summary", f"{count(len(told.alternatives), 'legal command')}, and to leave the table")
    table = grid(row("what", "how", head=True), rows, class_="ways")
    yield el("details", summary, table, open=len(kinds) <= 12)


def _nothing(told: Explained) -> str:
    if told.entry.seat is None:
        return "The house spoke: it has no choice of moves."
    waits = ", ".join(f"{speaker(told.before, s)} ({c})" for s, c in told.before.awaits.items())
    return f"Nothing: the table didn't wait for it. It waited for {waits or 'nobody'}."


def _changes(told: Explained) -> Html:
    before, after = told.before, told.after
    if told.entry.refusal and before.awaits == after.awaits:
        return el("p", f"Nothing but the time. {_turns(before, after)}")
    rows = []
    for seat, (was, now) in enumerate(zip(before.places, after.places, strict=True)):
        cells = zip(_counts(was), _counts(now), strict=True)
        rows.append(row(speaker(after, seat), *(_step(*cell) for cell in cells)))
    heading = row("", "points", "cars", "cards", "tickets", "offered", "routes", head=True)
    return run((grid(heading, rows, class_="figures"), el("p", _turns(before, after))))


def _counts(place: Place) -> tuple[int, ...]:
    lists = (place.tickets, place.offer, place.routes)
    return (place.points, place.cars, place.cards, *(len(each) for each in lists))


def _turns(before: Table, after: Table) -> str:
    def waits(table: Table) -> str:
        return ", ".join(f"{speaker(table, s)} ({choice})" for s, choice in table.awaits.items()) or "nobody"

    was, now = waits(before), waits(after)
    if was == now:
        return f"The table waits for {now}, as before."
    return f"The table waited for {was}; now it waits for {now}."


def _step(was: int, now: int) -> Html:
    return el("strong", f"{was} → {now}") if was != now else el("span", str(now))


def _to_the_letter(told: Explained) -> Html:
    entry = told.entry
    letter: Mapping[str, object] = {
        "id": entry.id,
        "seat": entry.seat,
        "at": entry.at,
        "command": write_command(entry.command),
        "events": [write_event(event) for event in entry.events],
    }
    code = el("pre", el("code", json.dumps(letter, ensure_ascii=False, indent=1)), tabindex="0")
    return el("details", el("summary", "The entry to the letter"), code)
