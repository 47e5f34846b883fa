"""What each event does to a train game, in the order of a game: opening, playing. No judgement here: an event that
reached the log did happen."""
