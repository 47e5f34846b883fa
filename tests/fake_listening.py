"""How a gateway hears of entries on fakeredis, which is no server: it has no connection that could be taken over."""

from __future__ import annotations

import asyncio

from services.ledger import notifications
from services.ledger.engine.queries import AsyncEngineClient, Client
from services.ledger.notifications import ChannelListener

listen_directly = notifications.listen_directly


async def listen(client: Client, listener: ChannelListener) -> None:
    """Let a listener hear, of either kind of engine."""
    await (listen_directly if isinstance(client, AsyncEngineClient) else listen_by_pubsub)(client, listener)


notifications.listen_directly = listen


async def listen_by_pubsub(client: Client, listener: ChannelListener) -> None:
    """Let a listener hear by redis-py's client, until the subscription ends: raises that error."""
    commands: asyncio.Queue[tuple[str | bytes, ...]] = asyncio.Queue()
    async with client.pubsub() as pubsub:
        listener.start(commands.put_nowait)
        await _send(pubsub, await commands.get())  # before that, redis-py has no connection
        tasks = [
            asyncio.ensure_future(_send_all(pubsub, commands)),
            asyncio.ensure_future(_hear(pubsub, listener)),
        ]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ended.pop().result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _send(pubsub: Client, command: tuple[str | bytes, ...]) -> None:
    name, *channels = command
    await (pubsub.subscribe if name == "SUBSCRIBE" else pubsub.unsubscribe)(*channels)


async def _send_all(pubsub: Client, commands: asyncio.Queue[tuple[str | bytes, ...]]) -> None:
    while True:
        await _send(pubsub, await commands.get())


async def _hear(pubsub: Client, listener: ChannelListener) -> None:
    while True:
        if (message := await pubsub.get_message(timeout=None)) is not None:
            listener.take([message["type"].encode(), message["channel"], message["data"]])
        await asyncio.sleep(0)  # others have their turn
