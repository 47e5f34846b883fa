"""The North America game: routes, tickets and the longest trail."""

from __future__ import annotations

from typing import Final

from schemas.events import DeckShuffled, GameCreated, HandDealt, SeatCleared, SeatGone, TurnStarted
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, RuleOptions
from services.referee.games.fair_randomness import SHARED_RANDOMNESS
from services.referee.games.state import ACTION, Ruleset
from services.referee.games.trains.appliers.opening import deck_shuffled, hand_dealt, lay_table
from services.referee.games.trains.appliers.playing import forget_last_turn, seat_cleared
from services.referee.games.trains.determinization import deal_afresh
from services.referee.games.trains.moves.cards import DRAW_BLIND, DRAW_MARKET
from services.referee.games.trains.moves.market import shuffle_discards_under
from services.referee.games.trains.moves.payment import one_colour_payable, require_one_colour
from services.referee.games.trains.moves.routes import CLAIM_ROUTE
from services.referee.games.trains.moves.tickets import DRAW_TICKETS, KEEP_TICKETS
from services.referee.games.trains.moves.turns import PASS, show_tickets
from services.referee.games.trains.moves.withdrawal import go_on_without, settle_choice
from services.referee.games.trains.pending_choices import SECOND_CARD, TICKETS
from services.referee.games.trains.scoring import holds_longest, most_tickets_made, score
from services.referee.games.trains.search.longest_trail import longest_trail
from services.referee.games.trains.setup.deal import continue_after_all_choices, offer_to_all, return_nothing
from services.referee.games.trains.setup.fork import fork_command
from services.referee.games.trains.setup.opening import (
    board_of,
    can_be_dealt,
    is_laid,
    open_train_game,
    start_play,
)
from services.referee.games.trains.setup.validation import accept_board, require_tickets_for_all
from services.referee.games.trains.train_packing import TRAIN_PACKING
from services.referee.games.trains.train_state import TrainParts

RULE_OPTIONS: Final = RuleOptions(
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
    rule_options=RULE_OPTIONS,
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
        return_untaken=return_nothing,
        after_start_choice=continue_after_all_choices,
        require_board=accept_board,
        require_enough_tickets=require_tickets_for_all,
        find_payable_routes=one_colour_payable,
        payment_checks=(require_one_colour,),
        measure_longest=longest_trail,
        tie_breaks=(most_tickets_made, holds_longest),
    ),
)
