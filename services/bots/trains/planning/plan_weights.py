"""The numbers of `planner`, tuned by games against itself. Points, unless they say otherwise."""

from __future__ import annotations

from typing import Final, NamedTuple


class PlanWeights(NamedTuple):
    """What things cost and bring, as `planner` sees them."""

    # the price of a route in a network, from which its points are taken off
    car_price: float = 0.85  # of each car, as a share of what the best use of a car brings
    claim_price: float = 1.0  # of the turn
    card_credit: float = 0.35  # off for each card in hand that suits it
    least_cost: float = 0.3  # of any route that must still be claimed
    locomotive_price: float = 1.0  # of each locomotive that a ferry asks for
    tunnel_price: float = 1.5  # of a tunnel, for the cards that may be asked for
    loan_price: float = 3.0  # of a station, beside the points of one that isn't built
    haste: float = 2.0  # of each missing card, when the last turn has come
    turns_early: float = 15.0  # turns: with so many left there is no haste
    # tickets
    route_risk: float = 0.06  # the chance that a route of a ticket can't be had,
    borrowed_risk: float = 0.03  # and while a station could borrow it from another seat
    turns_counted: float = 9.0  # turns: with fewer left a plan must be done in them
    cars_to_draw: float = 0.3  # of all cars: with fewer left no more tickets are drawn
    tickets_to_draw: int = 3  # with so many in hand no more are drawn
    draw_margin: float = 5.0  # what a draw of tickets must be expected to bring
    cars_a_turn: float = 2.0  # cars: how fast others use theirs
    # claims
    claim_threshold: float = 2.0  # a route of the network that matters less waits for better cards
    wild_price: float = 3.0  # of a locomotive in a payment, while cards are missing
    cards_short: float = 2.0  # cards: so many short of the network, a locomotive has its full price
    reserved_price: float = 1.0  # of a card that another route needs
    # routes outside of the network
    filler_weight: float = 0.5  # of cards for them
    filler_price: float = 0.75  # of each car, like `car_price`
    filler_pace: float = 3.0  # cars a turn, to see whether the turns reach for the cars
    cars_to_end: int = 20  # cars: with so many left, and ahead, a duel is ended:
    end_share: float = 0.3  # of the price of the cars then
    # the longest route
    touch_bonus: float = 6.0  # of cards for a route that lengthens the network by four spaces
    trail_share: float = 0.6  # of what a longer trail adds to the chance of that bonus, with two seats
    trail_growth: float = 0.4  # spaces by which a rival's longest route grows for each car that it has left
    trail_spread: float = 4.0  # spaces: how unsure that is
    filler_margin: float = 2.0  # what such a route must bring beside the price of its cars
    filler_wild: float = 4.0  # of a locomotive that the network needs
    # passengers
    journey_points: float = 8.0  # of a journey that is worth a turn


WEIGHTS: Final = PlanWeights()
