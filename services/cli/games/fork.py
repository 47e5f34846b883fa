"""`ledgerline fork`: a new game that goes on from an entry of another one, for an operator."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, NamedTuple

import typer

from schemas.commands import Command, CommandEnvelope, ForkGame, StartGame
from schemas.errors import InvalidInputError
from schemas.events import GameForked
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.web.tokens import Holder, Invitation, Token, TokenKeys, token_end_s
from services.bootstrap.composition import build_referee
from services.bootstrap.data_folder_keys import data_folder_token_keys
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    GameArgument,
    JsonOption,
    OpenedGames,
    fold_with_names,
    open_games,
    parse_viewer,
    read_game_log,
)
from services.cli.output import console, print_json, print_line
from services.cli.tables.game_tables import standings_table
from services.referee.games import GameState, UnloggedRejectionError, fold
from services.referee.worker import Referee
from services.text.formatting import SEAT_LETTERS, pluralize

app = typer.Typer()


class Fork(NamedTuple):
    """The new game, and the tokens that its host and the seat that asked for it need."""

    state: GameState
    forked: GameForked
    free_seats: list[Seat]
    host_token: str
    seat_token: str | None  # of `forked.asker`; None where the public's knowledge was asked for
    invitations: dict[Seat, str]  # to the free seats, where they are taken by invitation


@app.command()
def fork(
    game: GameArgument,
    at: Annotated[int, typer.Option(min=1, help="Go on from how it stood after this entry.")],
    viewer: Annotated[
        str,
        typer.Option("--as", help="Deal by what a seat (A, B, ..) or the public knew, while the game runs."),
    ] = "public",
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Start a new game from how another one stood. While that one runs, what is hidden is dealt afresh."""
    with open_games(data) as games:
        token_keys = data_folder_token_keys(data, games.settings)
        result = _fork_game(games, game, at, viewer, token_keys)
    if as_json:
        print_json(_fork_json(result))
    else:
        _print_fork(result)


def _fork_game(games: OpenedGames, game: str, sequence: int, viewer: str, token_keys: TokenKeys) -> Fork:
    """Create the new game, and start it unless a seat has to be taken first."""
    game = games.find(game)
    log = read_game_log(games.repository, game)
    viewer_seat = parse_viewer(viewer, fold_with_names(games.repository, game, log))
    ledger, new_game = games.ledger, secrets.token_hex(6)
    referee, lease = build_referee(ledger, games.settings)
    try:
        _send_command(referee, new_game, ForkGame(game, sequence, viewer_seat))
        if not _free_seats(fold(ledger.read_entries(new_game))):
            _send_command(referee, new_game, StartGame())
    finally:
        lease.leave()
    log = ledger.read_entries(new_game)
    state = fold_with_names(games.repository, new_game, log)
    return _describe_fork(state, log[0], token_keys, games.settings.token_life_s)


def _send_command(referee: Referee, game: str, command: Command) -> None:
    """Have a command decided at once. No running referee is needed, and one that runs does no harm."""
    try:
        referee.processor.process_system_command(
            CommandEnvelope(f"operator:{secrets.token_hex(8)}", game, None, command)
        )
    except UnloggedRejectionError as rejection:
        field, _, reason = rejection.reason.partition(": ")
        if reason:
            raise InvalidInputError(f"--{field}", reason) from None
        raise InvalidInputError(rejection.rule, rejection.reason) from None


def _free_seats(state: GameState) -> list[Seat]:
    return [seat for seat, seat_state in enumerate(state.seats) if not seat_state.is_seated]


def _describe_fork(state: GameState, creation: bytes, token_keys: TokenKeys, life_s: int) -> Fork:
    """The fork with tokens to go on with it, which are as good as the gateway's."""
    free_seats = _free_seats(state)
    (forked,) = [event for event in unpack_entry(creation).events if isinstance(event, GameForked)]
    end_s = token_end_s(time.time(), life_s)

    def mint(seat: Seat | None) -> str:
        return token_keys.mint(Token(Holder(state.game, seat), 0, end_s))

    invitations = {
        seat: token_keys.mint_invitation(Invitation(state.game, seat, end_s))
        for seat in free_seats
        if state.access.by_invitation
    }
    seat_token = None if forked.asker is None else mint(forked.asker)
    return Fork(state, forked, free_seats, mint(None), seat_token, invitations)


def _fork_json(fork: Fork) -> dict[str, object]:
    fields: dict[str, object] = {
        "game": fork.state.game,
        "of": fork.forked.of,
        "at": fork.forked.at,
        "afresh": fork.forked.afresh,
        "started": fork.state.started,
        "free": fork.free_seats,
        "token": fork.host_token,
    }
    if fork.seat_token is not None:
        fields |= {"seat": fork.forked.asker, "seat_token": fork.seat_token}
    if fork.invitations:
        fields["invitations"] = [
            {"seat": seat, "invitation": invitation} for seat, invitation in fork.invitations.items()
        ]
    return fields


def _print_fork(fork: Fork) -> None:
    state, forked = fork.state, fork.forked
    console.print(standings_table(state))
    deal_note = "what wasn't known is dealt afresh" if forked.afresh else "hidden cards stay where they were"
    console.print(f"Game {state.game} goes on from game {forked.of} after entry {forked.at}; {deal_note}.")
    if state.started:
        console.print("It has started: its bots play where the server runs (`ledgerline serve`).")
        return
    free_seats = ", ".join(SEAT_LETTERS[seat] for seat in fork.free_seats)
    console.print(
        f"{pluralize(len(fork.free_seats), 'seat')} to be taken: {free_seats}. Then the host starts it, with this token:"
    )
    print_line(fork.host_token)
    if fork.seat_token is not None and forked.asker is not None:
        console.print(f"Seat {SEAT_LETTERS[forked.asker]} is yours, with this token:")
        print_line(fork.seat_token)
    for seat, invitation in fork.invitations.items():
        console.print(f"Seat {SEAT_LETTERS[seat]} is taken with this invitation:")
        print_line(invitation)
