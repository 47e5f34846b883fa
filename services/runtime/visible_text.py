"""Text from outside, made safe for a terminal: what has no glyph of its own is shown as its escape."""

from __future__ import annotations

import json


def visible_text(text: str) -> str:
    r"""The text in one line. A character that can't be seen (a control character, a line break, a mark
    that turns the direction of writing, half of a surrogate pair) is shown as its escape, as `\x1b`.

    So no text can move the cursor, colour a line or pretend to be a line of its own."""
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def visible_json(document: object) -> str:
    """A JSON document, indented, whose strings hold only characters that can be seen, and escapes of the others."""
    written = json.dumps(document, ensure_ascii=False, indent=2)
    return "\n".join(
        line if line.isprintable() else "".join(map(_json_character, line)) for line in written.split("\n")
    )


def _json_character(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
