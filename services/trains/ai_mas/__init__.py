"""The class that AI-MAS competitors write their players against, over the client kit.

Start with `ttr_client`; docs/clients.md has a table of its methods and of what they return. The names of its first form
(`drawCardFromDeck`, `myPlayer`) are there beside Python's own.
"""

from services.trains.ai_mas.ttr_client import TTRClient
from services.trains.ai_mas.ttr_codes import TTRCons
from services.trains.ai_mas.ttr_table import (
    TTRCard,
    TTREdge,
    TTRMap,
    TTRMission,
    TTRNode,
    TTRPlayer,
    TTRTunnel,
    write_map,
)

__all__ = [
    "TTRClient",
    "TTRMap",
    "TTRNode",
    "TTREdge",
    "TTRPlayer",
    "TTRTunnel",
    "TTRMission",
    "TTRCard",
    "TTRCons",
    "write_map",
]
