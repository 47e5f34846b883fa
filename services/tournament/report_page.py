"""A tournament as one HTML page with its charts. It asks nothing of another host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.runtime.html_templates import html_templates
from services.tournament.charts import HEIGHT, SOURCES, WIDTH, points_by_source, score_distributions
from services.tournament.game_results import GameResult
from services.tournament.standings import Standings

TEMPLATES: Final = html_templates("services.tournament")


def render_page(title: str, how: str, results: Sequence[GameResult], standings: Standings) -> str:
    """The page; `how` says what was played and how."""
    names = [each.policy for each in standings.policies]
    return TEMPLATES.get_template("tournament.html").render(
        title=title,
        how=how,
        games=len(results),
        blocks=len({game.block for game in results}),
        standings=standings,
        names=names,
        distributions=sorted(score_distributions(results), key=lambda each: names.index(each.policy)),
        sources=SOURCES,
        source_bars=sorted(points_by_source(results), key=lambda each: names.index(each.policy)),
        width=WIDTH,
        height=HEIGHT,
    )
