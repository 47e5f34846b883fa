"""Train games: routes on a board, cards, tickets, stations, passengers; and the referee/player game Trains."""

from services.referee.games.trains.rulesets import TRAIN_GAMES as GAME

__all__ = ["GAME"]
