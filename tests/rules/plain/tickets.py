"""Tickets: the opening offers, later draws, what is kept, and where the rest goes (SETUP-*, TICKET-*)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.rules.plain.table import Table


def lay_ticket_decks(t: Table) -> None:
    """Every deck of tickets is shuffled."""
    used = {ticket.deck for ticket in t.board.tickets.values()}
    for name in (deck for deck in t.page.decks_given if deck in used):
        t.ticket_decks[name] = [ticket for ticket, its in t.board.tickets.items() if its.deck == name]
        t.shuffle_tickets(name, "SETUP-2")


def offer(t: Table, seat: int, decks: Sequence[str], least: int, rule: str) -> None:
    """The seat is offered the tops of these decks."""
    event, at = t.take("tickets_offered", rule), t.seats[seat]
    t.same(rule, "seat that is offered tickets", event["seat"], seat)
    t.same(rule, "decks offered from", list(event["decks"]), list(decks))
    t.same(rule, "tickets offered", len(event["tickets"]), len(decks))
    t.same(rule, "least to keep", event["least"], least)
    for deck in decks:
        if not t.ticket_decks.get(deck):
            t.stop(rule, f"tickets of {deck} are offered, and none is left")
        at.offer.append((deck, t.ticket_decks[deck].pop(0)))


def offer_starting(t: Table, seat: int) -> None:
    """SETUP-2, SETUP-4: what the page deals, or TICKET-3: a mix that the seat named, in secret."""
    start = t.options["start_tickets"]
    decks = [deck for deck in t.page.decks_given for _ in range(start.get(deck, 0))]
    if t.options["start_named"]:
        decks = mix_named(t, t.options["start_named"], start)
    offer(t, seat, decks, t.options["start_keep"], "SETUP-2")


def offer_more(t: Table) -> None:
    """TICKET-1, TICKET-3: a later draw."""
    asked, named = t.options["draw_tickets"], t.options["draw_named"]
    left = tickets_left(t)
    if not left:
        t.stop("TICKET-1", "tickets are drawn, and none is left")
    decks = [
        d for d in t.page.decks_given for _ in range(min(asked.get(d, 0), len(t.ticket_decks.get(d, ()))))
    ]
    if named:
        decks = mix_named(t, min(named, left), asked)
    offer(t, t.events[t.read]["seat"], decks, min(t.options["draw_keep"], len(decks)), "TICKET-1")


def tickets_left(t: Table) -> int:
    """How many could be drawn in a turn."""
    return sum(len(t.ticket_decks.get(deck, ())) for deck in t.options["draw_tickets"])


def mix_named(t: Table, due: int, asked: Sequence[str]) -> list[str]:
    """The decks of the offer to come, which may be any mix of so many in all."""
    decks = list(t.events[t.read].get("decks", ())) if t.next_type() == "tickets_offered" else []
    t.same("TICKET-3", "tickets offered", len(decks), due)
    t.need(set(decks) <= {*asked}, "TICKET-3", f"tickets are offered from {decks}")
    return [deck for deck in t.page.decks_given for _ in range(decks.count(deck))]


# -- keeping -------------------------------------------------------------------------------


def keep(t: Table) -> None:
    """The seat keeps some of its offer. Which, is known from the end, where all kept tickets are shown."""
    event = t.take("tickets_kept", "TICKET-1")
    at, count, starting = t.seats[event["seat"]], len(event["kept"]), t.turn is None
    rule, options = ("SETUP-3", "start_keep") if starting else ("TICKET-1", "draw_keep")
    most = t.options["start_keep_most"] if starting else None
    t.need(count >= min(t.options[options], len(at.offer)), rule, f"{count} kept of {len(at.offer)}")
    t.need(count <= min(len(at.offer), most or len(at.offer)), rule, f"{count} kept of {len(at.offer)}")
    kept: list[str | None] = [None] * count
    if at.shown is not None:
        kept = [*at.shown[len(at.tickets) : len(at.tickets) + count]]
        t.same("TICKET-2", "tickets kept and shown", len(kept), count)
        unknown = sum(ticket is None for _, ticket in at.offer)
        foreign = {*kept} - {ticket for _, ticket in at.offer}
        t.need(len(foreign) <= unknown, "TICKET-2", f"{foreign} kept, out of {at.offer}")
    at.tickets += kept
    at.last_kept = kept


def give_back(t: Table, seat: int, to: str) -> None:
    """What was offered and not kept goes back, deck by deck, in the order of the offer."""
    at, rule = t.seats[seat], "SETUP-3" if t.turn is None else "TICKET-1"
    due = len(at.offer) - len(at.last_kept)
    for deck in t.page.decks_given:
        slots = [ticket for d, ticket in at.offer if d == deck]
        rest: list[str | None] = [ticket for ticket in slots if ticket not in at.last_kept]
        known = at.shown is not None and None not in slots
        if known and not rest:
            continue
        if not known and not is_next_given_back(t, seat, deck):
            continue
        event = t.take("tickets_returned", rule)
        t.same(rule, "who gives tickets back", (event["seat"], event["deck"], event["to"]), (seat, deck, to))
        if known:
            t.same(rule, "tickets given back", len(event["tickets"]), len(rest))
        else:
            rest = [None] * len(event["tickets"])
        due -= len(rest)
        if to != "out":
            t.ticket_decks[deck] += rest
    t.same(rule, "tickets that weren't given back", due, 0)
    at.offer, at.last_kept = [], []


def is_next_given_back(t: Table, seat: int, deck: str) -> bool:
    if t.next_type() != "tickets_returned":
        return False
    event = t.events[t.read]
    return bool(event["seat"] == seat and event["deck"] == deck)
