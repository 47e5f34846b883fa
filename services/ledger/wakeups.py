"""Knocks at a channel, for whoever waits for entries in streams on many nodes of a cluster.

One engine can be asked to wait for many streams; a cluster can't, because they lie on many
nodes. So on a cluster, whoever puts something down may knock, and whoever waits hears it, at
whichever node. A knock may be lost: it only saves waiting, as everybody looks again soon.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Final

from redis.exceptions import RedisError

from services.ledger import keys
from services.ledger.async_cluster import AsyncCluster
from services.ledger.cluster import Cluster

LOOK_S: Final = 0.2  # without a knock, look again after so long
HEARD_MOST: Final = 100  # knocks that are taken for one


def channel(client: Any, group: str) -> str:
    """Where to knock for a group's consumers; '' where nobody listens, as the engine waits."""
    return keys.KNOCK[group] if isinstance(client, Cluster | AsyncCluster) else ""


class Knocks:
    """What is heard at one channel, by one thread."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._heard: Any = None

    def wait(self, most_s: float) -> None:
        """Return at a knock, or when it is time to look again."""
        most_s = min(most_s, LOOK_S)
        try:
            if self._heard is None:
                self._heard = self._client.pubsub(ignore_subscribe_messages=True)
                self._heard.subscribe(self._name)
            until = time.monotonic() + most_s
            while (left := until - time.monotonic()) > 0:
                if self._heard.get_message(timeout=left):
                    break
            for _ in range(HEARD_MOST):
                if not self._heard.get_message():
                    return
        except (RedisError, OSError):  # that node went: next time it is another
            self.close()
            time.sleep(most_s)

    def close(self) -> None:
        if self._heard is not None:
            with suppress(RedisError, OSError):
                self._heard.close()
            self._heard = None
