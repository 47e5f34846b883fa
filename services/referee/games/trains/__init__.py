"""Train games: routes on a board, cards, tickets, stations, passengers; and the referee/player game Trains."""
