"""Sentences for people: events, commands, and how durations and lists are written.

Importing it checks that every declared event has a sentence, or is listed as having none, and every command a description.
"""

import services.text.trains  # noqa: F401 - the words that a family brings
from services.text.commands import DESCRIPTION_TABLE
from services.text.events import SENTENCE_TABLE

SENTENCE_TABLE.complete()
DESCRIPTION_TABLE.complete()
