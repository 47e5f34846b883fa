"""What each event that every game has does to the state; a game's own events have their appliers in its folder.

No judgement here: an event that reached the log did happen.
"""
