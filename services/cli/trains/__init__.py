"""Commands that only the trains have: their boards, verdicts on positions, and games with other people's programs."""

from typing import Final

WITH_OTHER_PROGRAMS: Final = ("trains-server", "trains-client", "trains-cases")
OWN_COMMANDS: Final = {  # and their modules
    "ask": "trains.ask",
    "board": "trains.board",
    **dict.fromkeys(WITH_OTHER_PROGRAMS, "trains.remote_play"),
}
