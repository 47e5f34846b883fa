"""Sentences for people: events, commands, and how durations and lists are written.

Importing it checks that every declared event has a sentence, or is listed as having none, and every command a description.
"""

import services.text.trains  # noqa: F401 - the words that a family brings
from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY
from services.text.sentences import DESCRIPTIONS, SENTENCES


def require_words() -> None:
    """Raises TypeError, naming the events without a sentence or the commands without a description."""
    for what, registry, words in (
        ("sentence", EVENT_REGISTRY, SENTENCES),
        ("description", COMMAND_REGISTRY, DESCRIPTIONS),
    ):
        if missing := [
            cls.__name__ for cls in registry.classes if cls not in words and not getattr(cls, what)
        ]:
            raise TypeError(f"no {what} for the {registry.kind} {', '.join(missing)}")


require_words()
