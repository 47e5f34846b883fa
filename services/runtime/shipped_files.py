"""Files of the product that lie outside its packages: rule pages, the engine's users, the verifier, the guide.

They are beside the packages in a checkout and in the image. A wheel has them in `ledgerline/files`, under the same paths, so
that every way to install it brings them along (pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

TOP: Final = Path(__file__).parents[2]


def shipped_file(path: str) -> Path:
    """Where the file or folder of this path from the top of the checkout is; it may be missing."""
    installed = TOP / "ledgerline" / "files" / path
    return installed if installed.exists() else TOP / path
