"""From the creation of a game to the first turn (SETUP-*, MERCH-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.rules.plain.cards import fill_market
from tests.rules.plain.deal import counted
from tests.rules.plain.table import Table
from tests.rules.plain.tickets import give_back, keep, lay_ticket_decks, offer_starting


def start(t: Table, ages: Mapping[int, int | None]) -> None:
    """The entry that deals."""
    event = t.take("game_started", "SETUP-1")
    t.order = turn_order(t.options["order"], ages)
    t.same("TURN-1", "order of the turns", list(event["order"]), t.order)
    t.deck = t.shuffle_cards(Counter(t.options["cards"]), "deck_shuffled", "SETUP-1")
    lay_ticket_decks(t)
    for seat in t.order:
        dealt = t.take("hand_dealt", "SETUP-1")
        t.same("SETUP-1", "seat that is dealt cards", dealt["seat"], seat)
        t.same("SETUP-1", "cards dealt", len(dealt["cards"]), t.options["hand"])
        t.seats[seat].hand = counted(t.deck[: t.options["hand"]])
        del t.deck[: t.options["hand"]]
    t.market = [None] * t.options["market"]
    fill_market(t)
    stacks = t.options["merchandise"]
    t.tokens = {city: sorted(stacks.get(color, ()), reverse=True) for city, color in t.board.colors.items()}
    begin_choices(t)


def turn_order(option: str, ages: Mapping[int, int | None]) -> list[int]:
    """By seat; or the oldest first, and those without an age last."""
    seats = sorted(ages)
    if option == "seated":
        return seats
    sign = -1 if option == "age" else 1
    return sorted(seats, key=lambda seat: (ages[seat] is None, sign * (ages[seat] or 0), seat))


def begin_choices(t: Table) -> None:
    if not t.page.kept_together:
        offer_to_next(t)
        return
    for seat in t.order:
        if t.options["start_named"]:
            t.same("SETUP-2", "seat asked for a mix", t.take("mix_asked", "SETUP-2")["seat"], seat)
            t.waits[seat] = ("mix", t.at_ms)
        else:
            offer_starting(t, seat)
            t.waits[seat] = ("tickets", t.at_ms)


def offer_to_next(t: Table) -> None:
    """SETUP-4: the next in turn order who has no destinations yet."""
    waiting = [seat for seat in t.remaining() if not t.seats[seat].tickets]
    if waiting:
        offer_starting(t, waiting[0])
        t.waits[waiting[0]] = ("tickets", t.at_ms)


def name_mix(t: Table) -> None:
    """SETUP-2: hidden until all have named."""
    seat = t.take("tickets_named", "SETUP-2")["seat"]
    del t.waits[seat]
    t.named.add(seat)
    deal_mixes(t)


def deal_mixes(t: Table) -> bool:
    """When all have named their mixes, those who are still there are dealt theirs. Whether the choices are
    over with that, as nobody is there."""
    if t.waits:
        return False
    for seat in t.order:
        if seat in t.named and not t.seats[seat].gone:
            offer_starting(t, seat)
            t.waits[seat] = ("tickets", t.at_ms)
    t.named.clear()
    return not t.waits


def choose(t: Table) -> bool:
    """A seat keeps starting tickets. Whether all have chosen now."""
    seat = t.events[t.read]["seat"]
    keep(t)
    t.waits.pop(seat, None)
    return chosen(t, seat)


def chosen(t: Table, seat: int) -> bool:
    """After a seat has chosen, or is gone: SETUP-3, what they give back goes in seat order."""
    if not t.page.kept_together:
        at = t.seats[seat]
        if at.offer:
            give_back(t, seat, t.options["start_return"])
            t.shuffle_tickets("regular", "SETUP-3")
        if not t.waits:
            offer_to_next(t)
        return not t.waits
    if t.waits:
        return False
    for other in t.order:
        if t.seats[other].offer:
            give_back(t, other, t.options["start_return"])
    if t.options["start_return"] == "shuffled":
        for deck in t.page.decks_given:
            t.shuffle_tickets(deck, "SETUP-3")
    return True
