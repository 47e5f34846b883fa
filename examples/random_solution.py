"""The example player of AI-MAS, on the class of services/trains/ai_mas: any action at random, by trial and error.

python -m examples.random_solution HOST PORT [GAME [TOKEN | INVITATION]]
"""

import sys
from random import Random

from services.trains.ai_mas import TTRClient, TTRCons


class RandomSolution(TTRClient):
    """Picks uniformly among the five actions. What isn't possible returns a negative number, and is tried no more."""

    random = Random()  # noqa: S311 - of a game

    def my_method(self) -> None:
        """One step of a turn."""
        if self.first_missions or self.offered_missions:
            self.choose_missions()
        elif (tunnel := self.open_tunnel) is not None:
            self.pay_tunnel(*tunnel)
        else:
            actions = [self.draw_open, self.draw_card_from_deck, self.draw_missions, self.claim, self.build]
            self.random.choice(actions)()

    def choose_missions(self) -> None:
        """Give one or none back."""
        rejected = self.random.choice([None, *self.offered_missions])
        if self.reject_missions(rejected, None) < 0:
            self.keep_all_missions()

    def draw_open(self) -> int:
        """Take a card that lies face up."""
        return self.draw_card_from_open_deck(self.random.choice(TTRCons.COLORS + TTRCons.ENGINE))

    def claim(self) -> int:
        """Try an edge with a colour, and with as many engines as are missing."""
        edge, color = self.random.choice(self.my_map.edges), self.random.choice(TTRCons.COLORS)
        wagons = min(self.held(color), edge.cars)
        return self.claim_route(edge.node1, edge.node2, color, wagons, edge.cars - wagons + edge.eng)

    def pay_tunnel(self, node1: int, node2: int, color: str, wagons: int, engines: int, asked: int) -> None:
        """Pay with what is left of the colour, then with engines; else decline."""
        more = min(asked, self.held(color) - wagons) if wagons else 0
        if self.claim_route(node1, node2, color, wagons + more, engines + asked - more) != 0:
            self.claim_pass()

    def build(self) -> int:
        """Try a station in a city, paid with one colour."""
        edge, color = self.random.choice(self.my_map.edges), self.random.choice(TTRCons.COLORS)
        return self.build_station(edge.node1, edge.node2, color, 4 - self.my_player.stations, 0)

    def held(self, color: str) -> int:
        """How many cards of a colour the player holds."""
        return sum(card.color == color for card in self.my_player.hand)


if __name__ == "__main__":
    host, port, *table = sys.argv[1:]
    game, opens, *_ = *table, "", ""
    for result in RandomSolution("Solution", opens, "", game, host, int(port)).play():
        print({score.seat: score.total for score in result.scores})
