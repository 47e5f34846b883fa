"""Following games of bots from the command line: what the public sees of them, until they end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn

from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.bots.seat_projection import ViewPageReader
from services.cli.output import CommandLineError, console, print_line
from services.cli.tables.game_tables import game_progress, standings_table
from services.ledger import MissingEntryError, ViewFollower
from services.ledger.log.views import ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
from services.referee.games import GameState, fold_events
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier
from services.text.sentences import event_sentence, game_summary_json

STALL_TIMEOUT_S: Final = 600.0  # without any progress, on a server that hasn't failed
WAIT_MS: Final = 1_000  # for the next entry of the only game
MANY_WAIT_MS: Final = 10  # for that of one of many
PAUSE_S: Final = 0.01  # for each game, between two looks at all of them
MAX_PAUSE_S: Final = 5.0


class WatchedGame:
    """A game as a seat, or the public (None), sees it: verified, and folded as far as it was read."""

    def __init__(self, game: str, viewer: Seat | None = None) -> None:
        self.id, self.viewer = game, viewer
        self.state, self.view_verifier = GameState(), ViewVerifier(game, viewer)
        self.sequence = self.event_count = 0
        self.recent_sentences: deque[str] = deque(maxlen=6)

    def apply_entries(self, entries: Iterable[ViewEntry], *, with_sentences: bool = True) -> list[str]:
        """Apply the next entries, and return their sentences, unless nobody reads them.

        Raises CommandLineError where an entry doesn't fit the chain: the server is not to be believed."""
        sentences = list[str]()
        for entry in entries:
            try:
                self.view_verifier.verify(entry)
            except VerificationFailedError as failure:
                raise CommandLineError(
                    f"THE SERVER IS NOT TO BE BELIEVED: game {self.id}, {failure}"
                ) from None
            fold_events(self.state, entry.at, entry.events)
            self.sequence = entry.number
            self.event_count += len(entry.events)
            if with_sentences:
                sentences += filter(None, (event_sentence(self.state, event) for event in entry.events))
        self.recent_sentences.extend(sentences)
        return sentences

    def summary_json(self) -> Mapping[str, object]:
        """The game as JSON, as far as it was read."""
        return game_summary_json(self.state, self.event_count, self.sequence)


class SilentDisplay:
    """Shows nothing, for `--json`; the base of the others."""

    shows_sentences = False

    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None:
        """Show what is new in a game."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class LineDisplay(SilentDisplay):
    """Prints plain lines, for a file or a pipe."""

    shows_sentences = True

    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None:
        """Print the sentences."""
        for sentence in sentences:
            print_line(sentence)


class LiveDisplay(SilentDisplay):
    """Redraws a progress bar and the standings, for a terminal."""

    shows_sentences = True

    def __init__(self, watched: Sequence[WatchedGame]) -> None:
        self.watched = watched
        self.live = Live(self.render(), console=console, transient=True, refresh_per_second=12)

    def show(self, game: WatchedGame, sentences: Sequence[str]) -> None:
        """Redraw it with this game's standings."""
        self.live.update(self.render(game))

    def render(self, game: WatchedGame | None = None) -> Group:
        """The progress of all games, and the standings and last sentences of one."""
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(40), TextColumn("{task.percentage:>3.0f} %")
        )
        done = sum(game_progress(watched.state) for watched in self.watched) / len(self.watched)
        finished = sum(bool(watched.state.result) for watched in self.watched)
        label = f"{finished} of {len(self.watched)} games over" if len(self.watched) > 1 else "playing"
        bar.add_task(label, total=100, completed=round(100 * done))
        if game is None or not game.state.game:
            return Group(bar)
        return Group(bar, standings_table(game.state), *game.recent_sentences)

    def __enter__(self) -> None:
        self.live.start()

    def __exit__(self, *_: object) -> None:
        self.live.stop()


def follow_games(
    views: ViewFollower,
    pages: ViewPageReader,
    watched: list[WatchedGame],
    display: SilentDisplay,
    failure_reason: Callable[[], str],
) -> None:
    """Follow every game to its end. Play-offs that follow are appended to `watched`.

    `pages` reads several games in one round trip; `views` also has games whose streams went meanwhile.

    Raises CommandLineError where `failure_reason` names one, or all games stand still (`StallWatch`)."""
    with display:
        open_games, stall_watch = deque(watched), StallWatch(failure_reason)
        while open_games:
            news = [] if len(open_games) == 1 else _read_news(pages, open_games)
            first, wait_ms = open_games[0], MANY_WAIT_MS if len(open_games) > 1 else WAIT_MS
            open_games.rotate(-1)
            if not any(game is first for game, _ in news):
                news.append((first, views.follow_view(first.id, None, first.sequence, wait_ms)))
            for game, entries in news:
                display.show(game, game.apply_entries(entries, with_sentences=display.shows_sentences))
                if game.state.result:
                    open_games.remove(game)
                    if game.state.next_play_off:  # a play-off for its first place
                        open_games.append(WatchedGame(game.state.next_play_off.game))
                        watched.append(open_games[-1])
            if any(entries for _, entries in news):
                stall_watch.note_progress()
            else:
                stall_watch.check(f"game {first.id}")


def _read_news(
    pages: ViewPageReader, games: Sequence[WatchedGame]
) -> list[tuple[WatchedGame, list[ViewEntry]]]:
    """The games with new entries, and these. The more games, the more seldom they are read: they need the machine."""
    time.sleep(min(MAX_PAUSE_S, len(games) * PAUSE_S))
    requests = [ViewRequest(game.id, game.sequence, (None,), game.view_verifier.head) for game in games]
    found = zip(games, pages.read_views(requests), strict=True)
    return [(game, entries) for game, page in found if (entries := _entries_of(page))]


def _entries_of(page: ViewPageOrError) -> list[ViewEntry]:
    """The new entries; none where some aren't there: the streams of a game that is over go meanwhile, and then `views`
    has it, or says what is wrong. Raises any other damage."""
    if isinstance(page, LogRewoundError | MissingEntryError):
        return []
    if not isinstance(page, ViewPage):
        raise page
    return page.views[None]


class StallWatch:
    """Decides when to stop waiting for a server that this process started itself.

    A busy machine is slow for minutes, and a slow game is no failure. So nothing counts but progress: a failure is seen
    at once (`failure_reason`, empty while there is none), and only what stands still for very long is given up."""

    def __init__(
        self, failure_reason: Callable[[], str], monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._failure_reason, self._monotonic_s = failure_reason, monotonic_s
        self._last_progress_s = monotonic_s()

    def note_progress(self) -> None:
        """Begin the time anew."""
        self._last_progress_s = self._monotonic_s()

    def check(self, waiting_for: str) -> None:
        """Return while it is worth to go on waiting. Raises CommandLineError: the server failed, or stood still
        for STALL_TIMEOUT_S."""
        if reason := self._failure_reason():
            raise CommandLineError(reason)
        if self._monotonic_s() - self._last_progress_s > STALL_TIMEOUT_S:
            raise CommandLineError(f"{waiting_for} has stood still for {STALL_TIMEOUT_S:g} s")
