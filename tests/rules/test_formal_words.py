"""docs/reference/glossary.md has a row for each word of the formal rule text, and says what the word means there."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.rules.test_glossary import PAGE, Entry, entries, resolve

DEFINED: Final = (
    "City", "Route", "DoubleRoute", "RouteSpace", "Color", "TrainCard", "Locomotive", "TrainDeck",
    "TrainDiscardDeck", "TrainCardMarket", "Train", "RouteScoringTable", "Ticket", "DestinationTicket",
    "DestinationCity", "Points", "TicketDeck", "ContinuousPath", "LongestContinuousPath", "Setup",
    "SetupTrainCards", "SetupTrainCardMarket", "DrawTrainCard", "DrawStartTickets", "DrawTicket", "DiscardTicket",
    "PlayGame", "GameOver", "FinalTurn", "PlayerTurn", "DrawNewTrainCard", "DrawCardFromMarket", "RefillMarket",
    "DiscardTrainCard", "ClaimRoute", "ScoreRoute", "ScorePoints", "DrawNewTickets", "DetermineWinner",
)  # fmt: skip
IMPORTED: Final = (
    "Player", "NextPlayerClockwise", "Gameboard", "Token", "ChoosePlayerComponents", "Card", "Deck", "Hand",
    "Reveal", "ScoringTrack", "ScoringMarker", "RecordPointsOnScoringTrack", "ReshuffleDiscardToRecreateDeck",
    "DrawAsManyAsPossibleIfNotEnough", "PlayerWithHighestScore",
)  # fmt: skip
ENTRIES: Final = {entry.word: entry for entry in entries()}
CODE_NAME: Final = re.compile(r"`((?:schemas|services)\.[\w.]+)`")


def words_below(heading: str) -> list[str]:
    """The first cells of the table below this heading, in order."""
    table = PAGE.read_text().split(f"\n### {heading}\n")[1].split("\n#")[0]
    return [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")][2:]


def row(word: str) -> tuple[str, set[str], Entry]:
    """The code name of a word, its rules, and all of its row."""
    return (
        ENTRIES[word].name.rpartition("services.referee.games.")[2],
        set(ENTRIES[word].rules),
        ENTRIES[word],
    )


def test_the_tables_have_every_word_of_the_text_in_its_order_and_no_other() -> None:
    assert (len(DEFINED), len(IMPORTED)) == (39, 15)
    assert words_below("Words that it defines") == list(DEFINED)
    assert words_below("Words that it imports") == list(IMPORTED)


@pytest.mark.parametrize("word", [*DEFINED, *IMPORTED])
def test_a_word_stands_beside_a_rule_and_every_code_name_of_its_row_exists(word: str) -> None:
    entry = ENTRIES[word]
    assert entry.rules
    assert all(resolve(name) for name in CODE_NAME.findall(f"`{entry.name}` {entry.meaning}"))


def test_END_1_game_over_is_the_trigger_of_the_last_turns_and_not_the_end() -> None:
    code, rules, entry = row("GameOver")
    assert (code, rules) == ("trains.moves.turns.end_turn", {"END-1"})
    assert entry.meaning.startswith("The trigger of the last turns")


def test_SCORE_3_a_continuous_path_is_a_trail_and_the_longest_of_them_a_bonus() -> None:
    code, rules, entry = row("ContinuousPath")
    assert (code, rules) == ("trains.search.longest_trail.longest_trail", {"SCORE-2", "SCORE-3"})
    assert entry.meaning.startswith("A trail")
    code, rules, entry = row("LongestContinuousPath")
    assert (code, rules) == ("schemas.trains.events.TrainScore.bonus", {"SCORE-3", "TIE-1"})
    assert entry.meaning.startswith("The bonus")


def test_MARKET_2_a_train_card_is_discarded_by_a_payment_and_by_a_flush() -> None:
    code, rules, entry = row("DiscardTrainCard")
    assert (code, rules) == ("trains.appliers.pay", {"CARD-4", "ROUTE-6", "MARKET-2"})
    assert CODE_NAME.findall(entry.meaning) == ["services.referee.games.trains.appliers.market_flushed"]


def test_CARD_1_an_event_is_a_draw_and_a_new_draw_the_command_of_cards_as_of_tickets() -> None:
    assert [row(word)[0] for word in ("DrawTrainCard", "DrawTicket")] == [
        "schemas.trains.events.CardDrawn",
        "schemas.trains.events.TicketsOffered",
    ]
    assert [row(word)[0] for word in ("DrawNewTrainCard", "DrawNewTickets")] == [
        "schemas.trains.commands.DrawBlind",
        "schemas.trains.commands.DrawTickets",
    ]
    assert row("DrawTrainCard")[1] == {"SETUP-1", "CARD-1", "CARD-4"}


def test_SETUP_1_the_train_cards_are_set_up_by_their_shuffle_and_the_deal() -> None:
    code, _, entry = row("SetupTrainCards")
    assert code == "trains.setup.deal.deal_hands"
    assert CODE_NAME.findall(entry.meaning) == ["services.referee.games.trains.setup.deal.shuffle_all"]
