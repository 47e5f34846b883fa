"""Turns: who acts, what one action is, the end of a turn, last turns (TURN-*, END-*)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.rules.plain.cards import (
    draw_blind,
    fill_market,
    give_cards,
    has_second_card,
    refuse_cards,
    take_from_market,
)
from tests.rules.plain.claims import build_station, claim, dig, discard_revealed, settle
from tests.rules.plain.passengers import move_passenger
from tests.rules.plain.setup import choose, name_mix
from tests.rules.plain.stuck import must_act
from tests.rules.plain.table import LOCOMOTIVE, Choice, Table
from tests.rules.plain.tickets import give_back, keep, offer_more

REBUILT = ("deck_shuffled", "deck_recreated")  # may come before the action that needs the cards


def act(t: Table) -> None:
    """One entry in which a seat acted, or whose command was refused."""
    kind = t.next_type(1) if t.next_type() in REBUILT else t.next_type()
    if kind is None:
        return
    if kind == "command_refused":  # of the server
        t.take(kind, "CONDUCT-1")
        return
    if kind not in ACTIONS:
        t.stop("TURN-2", f"{kind} is no action")
    seat = next(event["seat"] for event in t.events[t.read :] if event["type"] == kind)
    if seat not in t.waits:
        t.stop("TURN-1", f"{kind} by seat {seat}, and the game waits for {sorted(t.waits)}")
    choice = t.waits[seat][0]
    choices, action = ACTIONS[kind]
    if choice not in choices:
        t.stop("TURN-3", f"{kind} by seat {seat}, whose choice is {choice}")
    check_time(t, seat)
    if kind != "passed":
        t.passed.clear()
    if kind != "request_unmet":
        t.unmet.clear()
    action(t, seat)


def check_time(t: Table, seat: int) -> None:
    """CLOCK-2: who is out of time takes no further part."""
    spent, limit = t.seats[seat].spent_ms, t.options["clock_ms"]
    t.need(limit is None or spent < limit, "CLOCK-2", f"seat {seat} has used {spent} of {limit} ms")
    since, limit = t.at_ms - t.waits[seat][1], t.options["move_ms"]
    t.need(limit is None or since < limit, "CLOCK-2", f"seat {seat} took {since} of {limit} ms")


# -- actions -------------------------------------------------------------------------------


def go_on(t: Table, seat: int, choice: Choice) -> None:
    """The seat has another choice in the same turn; its time goes on."""
    t.waits[seat] = (choice, t.waits[seat][1])


def draw(t: Table, seat: int) -> None:
    first, card = t.waits[seat][0] == "action", None
    if t.next_type() == "market_card_taken":
        card = take_from_market(t)
    else:
        draw_blind(t)
    if first and card != LOCOMOTIVE and has_second_card(t):
        go_on(t, seat, "second card")
    else:
        end_turn(t, seat)


def ask(t: Table, seat: int) -> None:
    if t.next_type() == "cards_given":
        give_cards(t)
    else:
        refuse_cards(t)
    end_turn(t, seat)


def draw_tickets(t: Table, seat: int) -> None:
    offer_more(t)
    go_on(t, seat, "tickets")


def keep_tickets(t: Table, seat: int) -> None:
    if t.turn is None:
        if choose(t):
            begin_turn(t, t.remaining()[0])
        return
    keep(t)
    give_back(t, seat, "bottom")
    end_turn(t, seat)


def claim_route(t: Table, seat: int) -> None:
    if t.tunnel:
        settle(t, seat)
    else:
        claim(t)
    end_turn(t, seat)


def dig_tunnel(t: Table, seat: int) -> None:
    if dig(t):
        go_on(t, seat, "tunnel")
    else:
        end_turn(t, seat)


def decline(t: Table, seat: int) -> None:
    t.take("tunnel_declined", "TUNNEL-3")
    end_turn(t, seat)


def build(t: Table, seat: int) -> None:
    build_station(t)
    end_turn(t, seat)


def travel(t: Table, seat: int) -> None:
    move_passenger(t)
    end_turn(t, seat)


def do_nothing(t: Table, seat: int) -> None:
    """TURN-4: only with no legal action but to build a station."""
    t.take("passed", "TURN-4")
    t.passed.add(seat)
    if action := must_act(t, seat):
        t.differ("TURN-4", f"seat {seat} passes, and could {action}")
    end_turn(t, seat)


ACTIONS: Mapping[str, tuple[tuple[Choice, ...], Callable[[Table, int], None]]] = {
    "card_drawn": (("action", "second card"), draw),
    "market_card_taken": (("action", "second card"), draw),
    "cards_given": (("action",), ask),
    "request_unmet": (("action",), ask),
    "tickets_offered": (("action",), draw_tickets),
    "tickets_kept": (("tickets",), keep_tickets),
    "tickets_named": (("mix",), lambda t, _: name_mix(t)),
    "route_claimed": (("action", "tunnel"), claim_route),
    "tunnel_revealed": (("action",), dig_tunnel),
    "tunnel_declined": (("tunnel",), decline),
    "station_built": (("action",), build),
    "passenger_moved": (("action",), travel),
    "passed": (("action",), do_nothing),
}


# -- from turn to turn -----------------------------------------------------------------------


def begin_turn(t: Table, seat: int) -> None:
    event = t.take("turn_started", "TURN-1")
    t.same("TURN-1", "whose turn it is", event["seat"], seat)
    t.turn = seat
    t.waits = {seat: ("action", t.at_ms)}


def end_turn(t: Table, seat: int) -> None:
    """The table is put in order, and the next turn begins, if there is one."""
    discard_revealed(t)
    fill_market(t)
    t.waits.clear()
    if t.last is not None and seat in t.last:
        t.last.remove(seat)
    begin_last_turns(t, seat)
    reason = why_over(t, seat)
    if reason:
        t.over, t.reason = True, reason
        return
    begin_turn(t, next_seat(t, seat))


def begin_last_turns(t: Table, seat: int) -> None:
    """END-1: the seat ended its turn with so few cars."""
    at = t.seats[seat]
    if t.last is not None or at.gone or at.cars > t.options["last_cars"]:
        return
    after = [other for other in after_seat(t, seat) if not t.seats[other].gone]
    t.last = after if t.options["last_turns"] == "all" else after[:-1]
    event = t.take("last_turns_began", "END-1")
    t.same("END-1", "who has a last turn", list(event["seats"]), t.last)


def after_seat(t: Table, seat: int) -> list[int]:
    """All seats in turn order, from the one after this to this one."""
    place = t.order.index(seat) + 1
    return t.order[place:] + t.order[:place]


def next_seat(t: Table, seat: int) -> int:
    return next(other for other in after_seat(t, seat) if not t.seats[other].gone)


def why_over(t: Table, seat: int) -> str | None:
    """The reason for which the game ends with this turn of the seat, or as it is gone."""
    remaining = {*t.remaining()}
    if not remaining:
        out_of_time = all(at.gone == "out of time" for at in t.seats)
        return "out of time" if out_of_time else "all gone"
    if t.last is not None and not remaining & {*t.last}:
        return "last turns"
    if remaining <= t.passed and seat in t.passed:
        return "all passed"
    return "no change" if remaining <= t.unmet and seat in t.unmet else None
