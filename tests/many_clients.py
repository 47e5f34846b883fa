"""Limits of a server whose clients all have one address, as in tests and benches."""

from __future__ import annotations

from typing import Final

from services.runtime.connection_limits import ServerLimits
from services.runtime.settings import Settings, read_settings

PER_ADDRESS: Final = {"read_rate": 10_000, "open_games": 100_000}
MANY_CLIENTS: Final = {"rate": 10_000, **PER_ADDRESS}
PATIENT: Final = ServerLimits(answer_s=30)  # of a gateway on a busy machine: verdicts come late


def settings_for_many_clients(**others: object) -> Settings:
    """The settings of an embedded server on a free port, with these others. Raises InvalidInputError."""
    return read_settings(port=0, **MANY_CLIENTS, **others)


def environment_for_many_clients() -> dict[str, str]:
    """The limits of an address as a service's variables; those of a seat stay the product's."""
    return {f"LEDGERLINE_{name.upper()}": str(value) for name, value in PER_ADDRESS.items()}
