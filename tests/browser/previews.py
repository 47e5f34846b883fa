"""Pictures for the previews of links: `python -m tests.browser.previews` draws each built-in board, and cards, by Chromium.

Programs that show a preview take no SVG. The pictures are of boards alone, so they tell nothing of a game."""

from __future__ import annotations

import sys
from base64 import b64encode
from pathlib import Path
from typing import Final

from services.gateway.routes.pages import PICTURES
from services.tables.built_in_catalog import BuiltInCatalog
from tests.browser.chromium import find_chromium, running_chromium

SIZE: Final = {"width": 800, "height": 420}
QUALITY: Final = 60  # 50 KB a board
PAGE: Final = '<body style="margin:0"><img style="width:100vw;height:100vh;object-fit:cover" src="data:image/svg+xml;base64,%s">'


def main() -> None:
    """Draw all of them anew."""
    catalog = BuiltInCatalog()
    drawings = {board.id: catalog.board_picture(board.id) or "" for board in catalog.boards()}
    drawings["cards"] = (Path(str(PICTURES)).parent / "lobby" / "cards.svg").read_text(encoding="utf-8")
    path = find_chromium()
    if path is None:
        sys.exit("there is no Chromium on this machine: install the system's package `chromium`")
    with running_chromium(path) as browser:
        page = browser.new_page(viewport=SIZE)
        for name, drawing in drawings.items():
            page.set_content(PAGE % b64encode(drawing.encode()).decode(), wait_until="load")
            page.screenshot(path=Path(str(PICTURES)) / f"{name}.jpg", type="jpeg", quality=QUALITY)


if __name__ == "__main__":
    main()
