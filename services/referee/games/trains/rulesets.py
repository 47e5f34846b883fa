"""The rulesets of train games, and the family as a value. A new ruleset is a new value here, and a branch nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from schemas.events import DeckShuffled, GameCreated, HandDealt, SeatCleared, SeatGone, TurnStarted
from schemas.trains.field_types import CARDS, COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, TRAIN_RULES, RuleOptions
from services.referee.games.fair_randomness import SHARED_RANDOMNESS
from services.referee.games.found_games import Game
from services.referee.games.shuffle import state_order
from services.referee.games.state import ACTION, Ruleset, no_events, nothing
from services.referee.games.trains.appliers import (
    deck_shuffled,
    forget_last_turn,
    hand_dealt,
    lay_table,
    seat_cleared,
)
from services.referee.games.trains.board import board_names, unreadable_boards
from services.referee.games.trains.determinization import deal_afresh
from services.referee.games.trains.moves.cards import DRAW_BLIND, DRAW_MARKET, REQUEST_CARDS
from services.referee.games.trains.moves.passengers import MOVE_PASSENGER
from services.referee.games.trains.moves.payment import (
    one_colour_payable,
    one_colour_with_plus_four_payable,
    require_ferry_locomotives,
    require_long_route_for_plus_four,
    require_one_colour,
    require_one_colour_with_plus_four,
)
from services.referee.games.trains.moves.routes import (
    BUILD_STATION,
    CLAIM_ROUTE,
    DECLINE_TUNNEL,
    PAY_TUNNEL,
)
from services.referee.games.trains.moves.tickets import (
    DRAW_MIX,
    DRAW_TICKETS,
    KEEP_TICKETS,
    NAME_TICKETS,
    go_on_without,
    settle_choice,
)
from services.referee.games.trains.moves.turns import (
    PASS,
    show_tickets,
    shuffle_all_together,
    shuffle_discards_under,
)
from services.referee.games.trains.scoring import score
from services.referee.games.trains.search.longest_trail import longest_trail
from services.referee.games.trains.search.sweeps import longest_path
from services.referee.games.trains.setup.deal import (
    ask_for_mixes,
    continue_after_all_choices,
    continue_after_all_mixes,
    continue_after_seat_choice,
    offer_to_all,
    offer_to_first,
    return_on_top,
)
from services.referee.games.trains.setup.fork import fork_command
from services.referee.games.trains.setup.opening import (
    board_of,
    can_be_dealt,
    is_laid,
    open_train_game,
    ruleset_for,
    start_play,
)
from services.referee.games.trains.setup.validation import (
    require_connections,
    require_tickets_for_all,
    require_tickets_for_mixes,
    require_tickets_in_turn,
)
from services.referee.games.trains.train_state import (
    MIX,
    SECOND_CARD,
    TICKETS,
    TRAIN_PACKING,
    TUNNEL,
    TrainParts,
)

USA_RULE_OPTIONS: Final = RuleOptions(
    seats_least=2,
    seats_most=5,
    order="seated",
    cars=45,
    cards={**dict.fromkeys(COLORS, 12), LOCOMOTIVE: 14},
    hand=4,
    market=5,
    flush={LOCOMOTIVE: 3},
    flush_most=5,
    start_tickets={"regular": 3},
    start_named=0,
    start_keep=2,
    start_keep_most=None,
    start_return="bottom",
    draw_tickets={"regular": 3},
    draw_named=0,
    draw_keep=1,
    pair_tickets=None,
    route_points=(1, 2, 4, 7, 10, 15),
    points_at_once=True,
    parallel_seats=4,
    parallel_owned=False,
    last_cars=2,
    last_turns="all",
    longest_bonus=10,
    most_tickets_bonus=0,
    tunnel_cards=0,
    station_costs=(),
    station_points=0,
    passengers=0,
    merchandise={},
    plus_four_least=1,
    play_off=0,
    clock_ms=None,
    move_ms=259_200_000,  # three days, so that every started game ends even if players stay away (P10)
    strict=False,
    refusals_kept=20,
)

USA: Final = Ruleset(
    name="usa",
    version=1,
    rule_options=USA_RULE_OPTIONS,
    randomness=SHARED_RANDOMNESS,
    bot_policies=frozenset({"random", "greedy", "planner", "searcher"}),
    moves={
        ACTION: (DRAW_BLIND, DRAW_MARKET, DRAW_TICKETS, CLAIM_ROUTE, PASS),
        SECOND_CARD: (DRAW_BLIND, DRAW_MARKET),
        TICKETS: (KEEP_TICKETS,),
    },
    options_schema=RULE_OPTIONS_SCHEMA,
    open_game=open_train_game,
    start=start_play,
    settle=settle_choice,
    go_on_without=go_on_without,
    show=show_tickets,
    score=score,
    is_deal_checked=True,
    can_be_dealt=can_be_dealt,
    board_of=board_of,
    is_laid=is_laid,
    packing=TRAIN_PACKING,
    fork_command=fork_command,
    deal_afresh=deal_afresh,
    own_appliers={
        GameCreated: lay_table,
        DeckShuffled: deck_shuffled,
        HandDealt: hand_dealt,
        TurnStarted: forget_last_turn,
        SeatGone: forget_last_turn,
        SeatCleared: seat_cleared,
    },
    default_board="usa",
    parts=TrainParts(
        route_kinds=frozenset({"rail"}),
        deal=offer_to_all,
        rebuild_deck=shuffle_discards_under,
        return_untaken=no_events,  # all of it leaves the game with a removed seat (CONDUCT-2)
        after_start_choice=continue_after_all_choices,
        require_board=nothing,  # any will do, as far as its form goes
        require_enough_tickets=require_tickets_for_all,
        find_payable_routes=one_colour_payable,
        payment_checks=(require_one_colour,),
        measure_longest=longest_trail,
        tie_breaks=("tickets made", "longest route"),
    ),
)


EUROPE_RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
    start_tickets={"long": 1, "regular": 3},
    start_return="out",
    route_points=(1, 2, 4, 7, None, 15, None, 21),
    tunnel_cards=3,
    station_costs=(1, 2, 3),
    station_points=4,
    play_off=5,
    clock_ms=120_000,
)

EUROPE: Final = replace(
    USA,
    name="europe",
    rule_options=EUROPE_RULE_OPTIONS,
    moves={
        **USA.moves,
        ACTION: (*USA.moves[ACTION], BUILD_STATION),
        TUNNEL: (PAY_TUNNEL, DECLINE_TUNNEL),
    },
    default_board="europe",
    parts=replace(
        USA.parts,
        route_kinds=frozenset({"rail", "ferry", "tunnel"}),
        rebuild_deck=shuffle_all_together,
        payment_checks=(require_one_colour, require_ferry_locomotives),
        tie_breaks=("points of tickets made", "unbuilt stations", "longest bonus"),
    ),
)


MARKLIN_RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
    cards={**dict.fromkeys(COLORS, 11), LOCOMOTIVE: 14, PLUS_FOUR: 6, PASSENGER: 10},
    flush={LOCOMOTIVE: 3, PASSENGER: 3},
    start_tickets={"short": 4, "long": 4},
    start_named=4,
    start_return="shuffled",
    draw_tickets={"short": 4, "long": 4},
    draw_named=4,
    route_points=(1, 2, 4, 7, 10, 15, 18),
    longest_bonus=0,
    most_tickets_bonus=10,
    passengers=3,
    merchandise={"black": (7, 6, 5, 4), "red": (4, 3, 2), "yellow": (3, 2, 1), "white": (2,)},
    plus_four_least=4,
)

MARKLIN: Final = replace(
    USA,
    name="marklin",
    rule_options=MARKLIN_RULE_OPTIONS,
    moves={
        **USA.moves,
        MIX: (NAME_TICKETS,),
        ACTION: (DRAW_BLIND, DRAW_MARKET, DRAW_MIX, CLAIM_ROUTE, MOVE_PASSENGER, PASS),
    },
    default_board="germany",
    parts=replace(
        USA.parts,
        deal=ask_for_mixes,
        after_start_choice=continue_after_all_mixes,
        require_enough_tickets=require_tickets_for_mixes,
        find_payable_routes=one_colour_with_plus_four_payable,
        payment_checks=(require_long_route_for_plus_four, require_one_colour_with_plus_four),
        tie_breaks=("tickets made", "merchandise"),
    ),
)


TRAINS_RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
    seats_most=8,
    order="age",
    cards={"red": 63, "blue": 63, "green": 62, "white": 62},
    market=0,
    flush={},
    start_tickets={"regular": 5},
    start_keep=2,
    start_keep_most=2,
    start_return="shuffled",
    draw_tickets={},
    draw_keep=0,
    pair_tickets=10,
    route_points=tuple(range(1, 21)),
    points_at_once=False,
    parallel_owned=True,
    last_turns="others",
    longest_bonus=20,
    strict=True,
)

TRAINS: Final = replace(
    USA,
    name="trains",
    rule_options=TRAINS_RULE_OPTIONS,
    bot_policies=USA.bot_policies | {"hold-10", "buy-now"},
    moves={ACTION: (REQUEST_CARDS, CLAIM_ROUTE, PASS), TICKETS: (KEEP_TICKETS,)},
    default_board="iberia",
    parts=replace(
        USA.parts,
        deal=offer_to_first,
        return_untaken=return_on_top,
        after_start_choice=continue_after_seat_choice,
        require_board=require_connections,
        require_enough_tickets=require_tickets_in_turn,
        measure_longest=longest_path,
        tie_breaks=(),
    ),
)


state_order(CARDS)
TRAIN_RULESETS: Final = {ruleset.name: ruleset for ruleset in (USA, EUROPE, MARKLIN, TRAINS)}
TRAIN_GAMES: Final = Game(
    "trains", (*TRAIN_RULESETS.values(),), ruleset_for, TRAIN_RULES, board_names, unreadable_boards
)
