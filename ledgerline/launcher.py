"""The `ledgerline` command of every installation: it starts the product, where nothing is in its packages' way.

It imports only the standard library until that is known.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = {"services": "cli/main.py", "schemas": "errors.py"}  # each with a file by which it is known
ROOT: Final = Path(__file__).resolve().parents[1]  # the product's three packages lie beside each other


class PackageInTheWayError(ImportError):
    """Python finds another package under the name of one of the product's."""


def main() -> None:
    """Run the command of this process."""
    try:
        require_packages()
    except PackageInTheWayError as error:
        sys.exit(f"ledgerline: {error}")
    from services.cli import main as run_command  # noqa: PLC0415 - see the top

    run_command()


def require_packages() -> None:
    """Require that the names of the product's packages lead to them. Raises PackageInTheWayError."""
    for name, known_by in PACKAGES.items():
        spec = find_spec(name)
        found = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
        if ROOT / name in (place.resolve() for place in found) and (ROOT / name / known_by).is_file():
            continue
        if spec is None:
            raise PackageInTheWayError(f"its package {name!r} is missing beside {ROOT}: install it again")
        place = spec.origin or found[0]
        raise PackageInTheWayError(
            f"another package named {name!r} is in the way, at {place}: install Ledgerline into an "
            "environment of its own (pipx install, uv tool install), and leave PYTHONPATH unset"
        )
