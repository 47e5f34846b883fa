"""The class that AI-MAS competitors write their players against, over the client kit.

Start with `ttr_client`; docs/clients.md has a table of its methods and of what they return. The names of its first form
(`drawCardFromDeck`, `myPlayer`) are there beside Python's own.
"""

from services.bots.kit.ai_mas.ttr_client import TTRClient
from services.bots.kit.ai_mas.ttr_codes import TTRCons
from services.bots.kit.ai_mas.ttr_map import TTREdge, TTRMap, TTRNode, write_map
from services.bots.kit.ai_mas.ttr_players import TTRCard, TTRMission, TTRPlayer

__all__ = [
    "TTRClient",
    "TTRMap",
    "TTRNode",
    "TTREdge",
    "TTRPlayer",
    "TTRMission",
    "TTRCard",
    "TTRCons",
    "write_map",
]
