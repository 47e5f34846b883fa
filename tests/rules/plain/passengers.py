"""A passenger's journey and the merchandise it brings home (PASSENGER-2, PASSENGER-3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.rules.plain.claims import PASSENGER
from tests.rules.plain.table import Table


def move_passenger(t: Table) -> None:
    event = t.take("passenger_moved", "PASSENGER-2")
    seat, start, path = event["seat"], event["city"], list(event["path"])
    t.same("PASSENGER-2", f"whose passenger is in {start}", t.passengers.get(start), seat)
    cities = _follow(t, start, path)
    t.need(path and len({*path}) == len(path), "PASSENGER-2", f"{path} uses a route twice, or none")
    owners = [t.owners.get(route) for route in path]
    t.need(None not in owners, "PASSENGER-2", f"{path} uses a route that nobody owns")
    t.need(t.board.cities.issuperset(cities), "PASSENGER-2", f"{cities} has a country")
    others = sum(owner != seat for owner in owners)
    t.same("PASSENGER-2", "passenger cards", event["cards"], others)
    if others:
        t.pay(seat, Counter({PASSENGER: others}), "PASSENGER-2")
    entered = [city for city in dict.fromkeys(cities) if city != start and t.tokens.get(city)]
    t.same("PASSENGER-3", "cities that gave a token", list(event["taken"]), entered)
    points = sum(t.tokens[city].pop(0) for city in entered)
    t.same("PASSENGER-3", "points for the journey", event["points"], points)
    t.seats[seat].merchandise += points
    t.passengers.pop(start, None)


def _follow(t: Table, start: str, path: Sequence[str]) -> list[str]:
    """The cities that the journey enters, one after the other."""
    at, entered = start, []
    for name in path:
        route = t.board.routes.get(name)
        if route is None or at not in route.ends:
            t.stop("PASSENGER-2", f"{name} doesn't lead on from {at}")
        assert route is not None
        at = route.ends[1] if route.ends[0] == at else route.ends[0]
        entered.append(at)
    return entered
