"""A bot for any table of any server: it claims the longest route that it can pay for, and else it draws.

python -m examples.bot LINK [NAME]    LINK is an invitation, or a table's address: http://host/table/GAME#invite=..
"""

import asyncio
import sys

from schemas.commands import Command
from schemas.trains.commands import ClaimRoute, DrawBlind
from services.bots.kit import AsyncSeatClient, SeatToken, Turn, join_by_link


def choose(turn: Turn) -> Command:
    """One of the legal commands. `turn.state` is all that the seat can see."""
    claims = [command for command in turn.commands if isinstance(command, ClaimRoute)]
    if claims:
        return max(claims, key=lambda claim: turn.state.own.board.routes[claim.route].length)
    return next((command for command in turn.commands if isinstance(command, DrawBlind)), turn.commands[0])


async def play(seat: SeatToken) -> int:
    """Play until the game is over. Returns the seat's points."""
    async with AsyncSeatClient(seat) as client:
        async for turn in client:
            verdict = await client.send(choose(turn))
            if verdict.refused:
                print(f"{verdict.refused.rule}: {verdict.refused.why}")
        result = client.session.state.result
        return result.scores[seat.seat].total if result else 0


if __name__ == "__main__":
    print(asyncio.run(play(join_by_link(sys.argv[1], (sys.argv[2:] or ["example"])[0]))), "points")
