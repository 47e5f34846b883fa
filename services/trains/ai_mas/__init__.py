"""The class that AI-MAS competitors write their players against, over the client kit.

Start with `ttr_client`; docs/how-to/clients.md has a table of its methods and of what they return. The names of its first form
(`drawCardFromDeck`, `myPlayer`) are there beside Python's own.
"""

from services.trains.ai_mas.ttr_client import (
    TTRCard,
    TTRClient,
    TTRCons,
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
