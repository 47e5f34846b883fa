"""The faults that the plain referee must find: what a referee, or whoever keeps a log, could have got wrong.
Each changes one thing, as the rule pages forbid, and names the rules that it may be found by."""

from __future__ import annotations

from typing import Final

from tests.rules.fault_planting import (
    FAULTS,
    Log,
    alters,
    another_card,
    another_seat,
    drops,
    fault,
    fewer_cards,
    in_two_colors,
    more_cards,
    one_fewer,
    one_more,
    plus_one,
    scores_wrongly,
    with_another_card,
)

# -- cards ---------------------------------------------------------------------------------

alters("game_started", "order", "TURN-1", lambda order, log: [*order[1:], order[0]])
alters("deck_shuffled", "order", "SETUP-1 CARD-4", one_fewer)
alters("deck_recreated", "order", "CARD-4 MARKET-2 TUNNEL-1", one_fewer)
alters("hand_dealt", "cards", "SETUP-1", one_fewer)
alters("hand_dealt", "seat", "SETUP-1", another_seat)
alters("market_filled", "cards", "MARKET-1", with_another_card)
alters("market_filled", "cards", "MARKET-1", one_fewer)
alters("market_filled", "slots", "CARD-1", lambda slots, log: [(slots[0] + 1) % 5, *slots[1:]])
drops("market_filled", "CARD-1", lambda event: len(event["slots"]) == 1)
alters("market_card_taken", "card", "CARD-1", another_card)
alters("market_card_taken", "slot", "CARD-1", lambda slot, log: slot + 5)
alters("market_card_taken", "seat", "TURN-1", another_seat)
alters("card_drawn", "seat", "TURN-1", another_seat)
alters("cards_given", "cards", "CARD-6", one_more)
alters("cards_given", "type", "CARD-6", lambda kind, log: "request_unmet")
alters("cards_given", "type", "TURN-2", lambda kind, log: "card_drawn")
drops("market_flushed", "MARKET-2")


@fault("MARKET-2")
def a_sweep_without_cause(log: Log) -> int | None:
    found = log.one("market_filled", lambda event: len(event["slots"]) == 1)
    if found is None:
        return None
    place, event = found
    there = log.entries[place].index(event) + 1
    if log.entries[place][there:] and log.entries[place][there]["type"] == "market_flushed":
        return None
    log.entries[place].insert(there, {"type": "market_flushed"})
    return place + 1


# -- routes, tunnels, stations -------------------------------------------------------------

alters("route_claimed", "points", "ROUTE-6", plus_one)
alters("route_claimed", "seat", "TURN-1 TUNNEL-3", another_seat)
alters("route_claimed", "cards", "ROUTE-2 TUNNEL-1 TUNNEL-3", fewer_cards)
alters("route_claimed", "cards", "ROUTE-2 TUNNEL-3", more_cards)
alters("route_claimed", "route", "ROUTE-1", lambda route, log: f"{route}-z")
alters(
    *("route_claimed", "cards", "ROUTE-2 TUNNEL-1", in_two_colors),
    condition=lambda event: any(n > 1 for c, n in event["cards"].items() if not c.startswith("locomotive")),
)
alters("tunnel_revealed", "revealed", "TUNNEL-1", with_another_card, lambda event: event["revealed"])
alters("tunnel_revealed", "extra", "TUNNEL-2", plus_one)
alters("tunnel_revealed", "cards", "ROUTE-2", fewer_cards)
alters("tunnel_declined", "type", "TURN-3 TURN-4", lambda kind, log: "passed")
drops("revealed_discarded", "TUNNEL-4")
alters("station_built", "cards", "STATION-2", more_cards)
alters("station_built", "city", "STATION-1", lambda city, log: f"{city}-z")
alters("station_built", "neighbour", "STATION-3", lambda city, log: "nowhere")


@fault("ROUTE-1")
def a_route_is_claimed_twice(log: Log) -> int | None:
    claims = log.all("route_claimed")
    if len(claims) < 2 or log.all("seat_cleared"):
        return None
    (_, first), (place, second) = claims[0], claims[-1]
    second["route"] = first["route"]
    return place + 1


@fault("STATION-1")
def a_station_where_one_is(log: Log) -> int | None:
    built = log.all("station_built")
    if len(built) < 2 or log.all("seat_cleared"):
        return None
    (_, first), (place, second) = built[0], built[-1]
    second["city"] = first["city"]
    return place + 1


@fault("TUNNEL-3")
def a_tunnel_is_paid_too_much_for(log: Log) -> int | None:
    for place, event in log.all("route_claimed"):
        if log.entries[place][0] is event and any(
            dug["route"] == event["route"] and dug["extra"] for _, dug in log.all("tunnel_revealed")
        ):
            event["cards"] = more_cards(event["cards"], log)
            return place + 1
    return None


# -- tickets -------------------------------------------------------------------------------

alters("tickets_offered", "tickets", "SETUP-2 TICKET-1 TICKET-3", one_fewer)
alters("tickets_offered", "decks", "SETUP-2 TICKET-1 TICKET-3", one_fewer)
alters("tickets_offered", "least", "SETUP-2 TICKET-1", plus_one)
alters("tickets_offered", "seat", "SETUP-2 TICKET-1 TURN-1", another_seat)
alters("tickets_kept", "kept", "SETUP-3 TICKET-1 TICKET-2 CLOCK-2", one_fewer)
alters(
    "tickets_returned", "to", "SETUP-3 TICKET-1 CONDUCT-2", lambda to, log: "out" if to != "out" else "bottom"
)
alters("tickets_returned", "tickets", "SETUP-3 TICKET-1 CONDUCT-2", one_more)
drops("tickets_returned", "SETUP-3 TICKET-1 CONDUCT-2")
drops("tickets_shuffled", "SETUP-2 SETUP-3")


@fault("TICKET-2")
def tickets_are_shown_by_another_seat(log: Log) -> int | None:
    shown = log.all("tickets_shown", lambda event: event["tickets"])
    if len(shown) < 2:
        return None
    (_, one), (_, other) = shown[:2]
    one["tickets"], other["tickets"] = other["tickets"], one["tickets"]
    return 1  # they were kept before


@fault("TICKET-2")
def a_ticket_is_shown_that_nobody_kept(log: Log) -> int | None:
    found = log.one("tickets_shown")
    if found is None:
        return None
    found[1]["tickets"] = [*found[1]["tickets"], "nowhere:elsewhere"]
    return found[0] + 1


# -- passengers ----------------------------------------------------------------------------

alters("passenger_placed", "city", "PASSENGER-1", lambda city, log: "danemark")
alters("passenger_placed", "seat", "PASSENGER-1", another_seat)
alters("passenger_moved", "points", "PASSENGER-3", plus_one)
alters("passenger_moved", "taken", "PASSENGER-3", one_fewer, lambda event: event["taken"])
alters("passenger_moved", "cards", "PASSENGER-2", plus_one)
alters("passenger_moved", "city", "PASSENGER-2", lambda city, log: "nowhere")
alters("passenger_moved", "path", "PASSENGER-2", one_more)

# -- turns, conduct, the end ---------------------------------------------------------------

alters("turn_started", "seat", "TURN-1", another_seat)
drops("turn_started", "TURN-1")
drops("last_turns_began", "END-1")
alters("last_turns_began", "seats", "END-1", one_fewer, lambda event: event["seats"])
alters("game_ended", "reason", "END-1 END-2 END-3 END-4 CONDUCT-3", lambda reason, log: "no reason")
alters("seat_gone", "why", "CONDUCT-2", lambda why, log: "left" if why == "removed" else "removed")
alters("seat_gone", "seat", "CLOCK-1 CONDUCT-2 CONDUCT-3 TURN-1 TURN-2 END-1", another_seat)
drops("seat_cleared", "CONDUCT-2")
drops("play_off_called", "TIE-1")
drops("play_off_ended", "TIE-1")
alters("play_off_called", "seats", "TIE-1", one_fewer)
alters("card_drawn", "type", "TURN-3 TURN-4", lambda kind, log: "passed")


@fault("SETUP-1", "MARKET-1", "TICKET-2", "ROUTE-3")
def another_seed_is_revealed(log: Log) -> int | None:
    found = log.one("seed_revealed")
    if found is None:
        return None
    seed = found[1]["seed"]
    found[1]["seed"] = ("1" if seed[0] == "0" else "0") + seed[1:]
    return 1


@fault("CLOCK-1")
def time_runs_back(log: Log) -> int | None:
    place = log.rng.randrange(3, len(log.times))
    log.times[place] = log.times[place - 1] - 1
    return place + 1


@fault("CLOCK-1")
def out_of_time_too_early(log: Log) -> int | None:
    found = log.all("seat_gone", lambda event: event["why"] == "out of time")
    if not found:
        return None
    place, start = found[0][0], log.times[0]
    log.times = [start] * place + [start + time - log.times[place] for time in log.times[place:]]
    return place + 1


@fault("TURN-1", "TURN-2", "TURN-3", "CARD-1", "MARKET-1", "ROUTE-3")
def a_turn_is_left_out(log: Log) -> int | None:
    starts = [place for place, _ in log.all("turn_started") if place + 2 < len(log.entries)]
    starts = [p for p in starts if any(event["type"] == "turn_started" for event in log.entries[p + 1])]
    if not starts:
        return None
    place = log.rng.choice(starts) + 1
    del log.entries[place], log.times[place]
    return place + 1


@fault("GAME-3")
def a_turn_after_the_end(log: Log) -> int | None:
    log.entries.append([{"type": "passed", "seat": 0}])
    log.times.append(log.times[-1])
    return len(log.entries)


# -- the count -----------------------------------------------------------------------------

scores_wrongly("routes", "SCORE-1", lambda points: points + 1)
scores_wrongly("tickets", "SCORE-2", lambda points: points + 1)
scores_wrongly("won", "SCORE-2", lambda points: points + 1)
scores_wrongly("made", "SCORE-2", lambda made: made[1:], lambda row: row["made"])
scores_wrongly("missed", "SCORE-2", lambda missed: missed[1:], lambda row: row["missed"])
scores_wrongly("lent", "STATION-3", lambda lent: ["nowhere", *lent[1:]], lambda row: row["lent"])
scores_wrongly(
    "lent", "STATION-3", lambda lent: [None for _ in lent], lambda row: any(row["lent"]) and row["made"]
)
scores_wrongly("longest", "SCORE-3", lambda spaces: spaces + 1)
scores_wrongly("longest", "SCORE-3", lambda spaces: spaces - 1, lambda row: row["longest"])
scores_wrongly("bonus", "SCORE-3", lambda bonus: 0 if bonus else 10)
scores_wrongly("most", "SCORE-4", lambda bonus: 0 if bonus else 10)
scores_wrongly("stations", "SCORE-5", lambda points: points + 4)
scores_wrongly("merchandise", "PASSENGER-3", lambda points: points + 1)
scores_wrongly("total", "SCORE-1", lambda points: points + 1)
scores_wrongly("place", "TIE-1", lambda place: place + 1)
scores_wrongly("place", "TIE-1", lambda place: place - 1)


@fault("SCORE-2")
def a_missed_ticket_is_made(log: Log) -> int | None:
    for row in log.scores():
        if row["missed"]:
            row["made"], row["missed"] = [*row["made"], row["missed"][0]], row["missed"][1:]
            return len(log.entries)
    return None


@fault("TIE-1")
def two_places_are_swapped(log: Log) -> int | None:
    rows = sorted(log.scores(), key=lambda row: int(row["place"]))
    if rows[0]["place"] == rows[-1]["place"]:
        return None
    rows[0]["place"], rows[-1]["place"] = rows[-1]["place"], rows[0]["place"]
    return len(log.entries)


@fault("TIE-1")
def a_tie_isnt_broken(log: Log) -> int | None:
    """Equal points, and what decides between them is overlooked."""
    rows = [*log.scores()]
    for row in rows:
        for other in rows:
            if row["total"] == other["total"] and row["place"] < other["place"]:
                other["place"] = row["place"]
                return len(log.entries)
    return None


@fault("TIE-1")
def a_shared_place_isnt_shared(log: Log) -> int | None:
    rows = [*log.scores()]
    for row in rows:
        if any(other["place"] == row["place"] for other in rows if other is not row):
            row["place"] += 1
            return len(log.entries)
    return None


ALL_FAULTS: Final = tuple(FAULTS)
