"""What each fact means to a table, in the order of schemas/events: opening, playing, ending.

No judgement here: an event that reached the log did happen. Every function is the same for
every ruleset."""
