"""Seats that leave, run out of time, or are removed (CONDUCT-*, CLOCK-2)."""

from __future__ import annotations

from tests.rules.plain.deal import in_card_order
from tests.rules.plain.setup import chosen, deal_mixes
from tests.rules.plain.table import Table
from tests.rules.plain.tickets import give_back, keep
from tests.rules.plain.turns import begin_turn, end_turn, why_over


def withdraw(t: Table) -> None:
    """The entry by which a seat takes no further part."""
    seat = next(event["seat"] for event in t.events if event["type"] == "seat_gone")
    at, strict = t.seats[seat], t.options["strict"]
    choice = t.waits.get(seat, (None, 0))[0]
    if at.gone:
        t.stop("CONDUCT-3", f"seat {seat} is gone already")
    if strict and t.turn is None and not t.page.kept_together and not at.tickets:
        leave_to_the_next(t, seat)
    elif strict and not t.page.kept_together and t.untaken and t.untaken[0] == seat:
        hand_back(t, *t.untaken)
    if choice == "tunnel":
        t.take("tunnel_declined", "CLOCK-2")
    elif choice == "tickets" and not strict:
        keep_fewest(t, seat)
    event = t.take("seat_gone", "CONDUCT-3")
    at.gone = event["why"]
    t.need((at.gone == "removed") == strict, "CONDUCT-2", f"seat {seat} is {at.gone}")
    if at.gone == "out of time":
        check_out_of_time(t, seat)
    if strict:
        clear(t, seat)
    go_on_without(t, seat, choice)


def keep_fewest(t: Table, seat: int) -> None:
    """CLOCK-2: tickets are kept in the order they were offered, as few as must be."""
    at = t.seats[seat]
    least = min(t.options["start_keep" if t.turn is None else "draw_keep"], len(at.offer))
    keep(t)
    t.same("CLOCK-2", "tickets kept", len(at.last_kept), least)
    for kept, (_, offered) in zip(at.last_kept, at.offer, strict=False):
        t.need(offered is None or kept == offered, "CLOCK-2", f"{kept} is kept before {offered}")
    if t.turn is not None:
        give_back(t, seat, "bottom")


def leave_to_the_next(t: Table, seat: int) -> None:
    """CONDUCT-2 of `trains`: who is removed before it has chosen leaves the destinations of its offer at the
    front of the others, and its hand on top of the deck, colour by colour."""
    at, rule = t.seats[seat], "CONDUCT-2"
    if at.offer:
        event = t.take("tickets_returned", rule)
        found = (event["seat"], event["to"], len(event["tickets"]))
        t.same(rule, "destinations left", found, (seat, "top", len(at.offer)))
        t.ticket_decks["regular"][:0] = [ticket for _, ticket in at.offer]
        at.offer = []
    if hand := in_card_order(at.hand):
        event = t.take("hand_returned", rule)
        t.same(rule, "hand left", (event["seat"], len(event["cards"])), (seat, len(hand)))
        t.deck[:0] = hand


def hand_back(t: Table, seat: int, cards: list[str]) -> None:
    """CONDUCT-2 of `trains`: the cards of its last request, which the next seat hasn't followed, lie on the deck again."""
    event = t.take("hand_returned", "CONDUCT-2")
    t.same("CONDUCT-2", "cards handed back", (event["seat"], len(event["cards"])), (seat, len(cards)))
    t.deck[:0] = cards
    t.untaken = None


def check_out_of_time(t: Table, seat: int) -> None:
    at = t.seats[seat]
    if seat not in t.waits:
        t.stop("CLOCK-1", f"seat {seat} runs out of time, and nobody waits for it")
    since, clock_ms, move_ms = t.at_ms - t.waits[seat][1], t.options["clock_ms"], t.options["move_ms"]
    over = (clock_ms is not None and at.spent_ms >= clock_ms) or (move_ms is not None and since >= move_ms)
    t.need(over, "CLOCK-1", f"seat {seat} has used {at.spent_ms} ms, and {since} for this move")


def clear(t: Table, seat: int) -> None:
    """CONDUCT-2: what it had is out of the game, its routes are free."""
    at = t.seats[seat]
    t.same("CONDUCT-2", "seat cleared", t.take("seat_cleared", "CONDUCT-2")["seat"], seat)
    at.cleared = True
    at.hand.clear()
    at.tickets, at.stations, at.points, at.merchandise = [], {}, 0, 0
    t.owners = {route: owner for route, owner in t.owners.items() if owner != seat}
    t.passengers = {city: owner for city, owner in t.passengers.items() if owner != seat}
    t.station_owners = {city: owner for city, owner in t.station_owners.items() if owner != seat}
    at.offer = []
    t.changed()  # its routes are free: who passed may have something to do


def go_on_without(t: Table, seat: int, choice: str | None) -> None:
    t.waits.pop(seat, None)
    if t.turn == seat:
        end_turn(t, seat)
        return
    choices_over = t.turn is None and (choice != "mix" or deal_mixes(t))
    all_chosen = choices_over and chosen(t, seat)
    if reason := why_over(t, seat):
        t.over, t.reason = True, reason
    elif all_chosen:
        begin_turn(t, t.remaining()[0])
