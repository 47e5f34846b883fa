"""`ledgerline top`: what the operator's page shows, on a terminal, again every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Annotated, Final

import httpx
import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from schemas.contract import Json
from schemas.errors import InvalidInputError
from services.bootstrap.embedded import open_engine_url
from services.bootstrap.operator_reads import OperatorReads
from services.cli.operating.status import draw_system
from services.cli.options import DEFAULT_DATA, DataOption, open_read_ledger
from services.cli.output import console
from services.runtime.settings import read_settings

app = typer.Typer()
COLUMNS: Final = {  # of each part, as the page has them
    "games": ("game", "state", "entries", "age_s", "idle_s"),
    "dead_letters": ("letter", "game", "seat", "command", "error"),
    "disputes": ("dispute", "game", "number", "state", "reason"),
    "jobs": ("id", "state", "tries", "why"),
    "webhooks": ("game", "seat", "failed"),
    "limits": ("limit", "count"),  # of one gateway
}
MOST_ROWS: Final = 8  # of a part, so that all of it fits on a screen


@app.command()
def top(
    every: Annotated[float, typer.Option(min=0.5, max=3600, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    gateway: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="A gateway whose hit limits are shown, with LEDGERLINE_OPERATOR_KEY."
        ),
    ] = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Show services, engine, backlog, games, dead letters, disputes, jobs, webhooks and hit limits, until Ctrl-C."""
    settings = read_settings()
    key = settings.operator_key.get_secret_value()
    if gateway and not key:
        raise InvalidInputError(
            "LEDGERLINE_OPERATOR_KEY", "is missing: a gateway shows its limits to nobody else"
        )
    with (
        open_read_ledger(data),  # says what is wrong, and keeps the data folder's engine up
        open_engine_url(data, settings) as url,
        closing(OperatorReads(settings.model_copy(update={"redis_url": url, "partitions": None}))) as reads,
    ):

        def look() -> Group:
            limits = {"limits": read_limits(gateway, key)} if gateway else {}
            return draw({**reads.overview(), **limits})

        if once:
            console.print(look())
            return
        with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
            while True:
                live.update(look(), refresh=True)
                time.sleep(every)


def read_limits(gateway: str, key: str) -> list[Json] | Json:
    """How often a gateway refused something by each limit, since it started; or why that can't be read."""
    headers = {"Authorization": f"Bearer {key}"}
    try:
        answer = httpx.get(f"{gateway.rstrip('/')}/v1/operator", headers=headers, trust_env=False)
        answer.raise_for_status()
        return [{"limit": limit, "count": count} for limit, count in answer.json()["limits"].items()]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError) as error:
        return {"error": f"{gateway} doesn't say: {error}"}


def draw(overview: Json) -> Group:
    """All parts, those of the system first."""
    parts = (_draw_part(name, overview[name]) for name in COLUMNS if name in overview)
    return Group(*_draw_system(overview["system"]), *parts)


def _draw_system(system: Json) -> Iterator[Text | Table]:
    if "error" in system:
        yield Text(f"system: {system['error']}", "yellow")
        return
    yield from draw_system(system)


def _draw_part(name: str, rows: Sequence[Json] | Json) -> Text | Table:
    title = name.replace("_", " ")
    if isinstance(rows, dict):
        return Text(f"{title}: {rows['error']}", "yellow")
    return _table(title, COLUMNS[name], rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[Json]) -> Text | Table:
    if not rows:
        return Text(f"{title}: none", "dim")
    more = f", the first {MOST_ROWS}" if len(rows) > MOST_ROWS else ""
    headings = (column.replace("_", " ") for column in columns)
    table = Table(*headings, title=f"{title} ({len(rows)}{more})", title_justify="left")
    for row in rows[:MOST_ROWS]:
        table.add_row(*("" if (value := row.get(column)) is None else str(value) for column in columns))
    return table
