"""Planted bugs of webhooks: each sends what isn't asked for, or to where nothing may be sent."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

URLS: Final = ("tests/auditor/test_webhook_urls.py",)
CLIENT: Final = ("tests/auditor/test_webhook_client.py",)
NOTICES: Final = ("tests/auditor/test_webhooks.py",)

WEBHOOK_MUTANTS: Final = (
    Mutant(
        "a webhook leads to an address that isn't public", "security", "services/runtime/webhook_urls.py",
        "    if not _is_public(inner):\n", "    if False:\n", URLS,
    ),
    Mutant(
        "all of IPv6 is taken for public", "security", "services/runtime/webhook_urls.py",
        "    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:\n", "    if False:\n", URLS,
    ),
    Mutant(
        "only the first address of a host is checked", "security", "services/auditor/webhook_client.py",
        "        for address in addresses:\n            try:\n                require", "        for address in addresses[:1]:\n            try:\n                require",
        CLIENT,
    ),
    Mutant(
        "a host is resolved again once it was checked", "security", "services/auditor/webhook_client.py",
        "socket.create_connection((str(address), target.port)",
        "socket.create_connection((str(self._resolve(target.host, target.port)[0]), target.port)", CLIENT,
    ),
    Mutant(
        "the name in a certificate isn't looked at", "security", "services/auditor/webhook_client.py",
        "server_hostname=target.host", "server_hostname='bot.invalid'", CLIENT,
    ),
    Mutant(
        "an answer may drip for ever", "P8", "services/auditor/webhook_client.py",
        "    while received <= MAX_ANSWER_BYTES:\n", "    while True:\n", CLIENT,
    ),
    Mutant(
        "a slow receiver is asked again at once", "P8", "services/auditor/webhook_client.py",
        "            if slow_s > 0:\n", "            if False:\n", CLIENT,
    ),
    Mutant(
        "a slow receiver silences all hosts of its address", "P8", "services/auditor/webhook_client.py",
        "self._slow_until_s.get((host, address), 0.0)",
        "max([at for (_, slow), at in self._slow_until_s.items() if slow == address], default=0.0)", CLIENT,
    ),
    Mutant(
        "a busy receiver counts as a failed try", "P8", "services/auditor/webhook_job.py",
        "        return busy.wait_s\n", "        raise WebhookFailedError(str(busy)) from None\n", NOTICES,
    ),
    Mutant(
        "a name without an address fails otherwise than one that isn't public", "security", "services/auditor/webhook_client.py",
        "        except (OSError, UnicodeError):\n            raise WebhookFailedError(NOT_CONNECTED) from None",
        "        except (OSError, UnicodeError):\n            raise WebhookFailedError('no address') from None", CLIENT,
    ),
    Mutant(
        "a job that was taken and never begun is lost", "P7", "services/auditor/worker.py",
        "        self._give_back_unbegun()\n", "        pass\n", ("tests/auditor/test_jobs.py",),
    ),
    Mutant(
        "other jobs wait for what a receiver answers", "P8", "services/auditor/worker.py",
        "WEBHOOK_WORKERS, webhook_executor)", "WEBHOOK_WORKERS)", NOTICES,
    ),
    Mutant(
        "a webhook follows from what its seat alone sees", "P5", "services/auditor/webhook_job.py",
        "ViewRequest(self.game, self.number, (None,), head)", "ViewRequest(self.game, self.number, (None, 0), head)",
        NOTICES,
    ),
    Mutant(
        "what is sent has more than the page says", "P5", "schemas/web/webhooks.py",
        '        del fields["asked"]\n', '        fields["asked"] = self.asked\n', NOTICES,
    ),
    Mutant(
        "a webhook that is sent again has a new id", "P7", "services/auditor/webhook_job.py",
        '("webhook-id", notice.id)', '("webhook-id", f"{notice.id}_{timestamp_s}")', NOTICES,
    ),
    Mutant(
        "a notice is noted before it is sent", "P7", "services/auditor/webhook_job.py",
        "    try:\n        status = _send(", "    store.mark_notified(game, seat, webhook, number)\n    try:\n        status = _send(",
        NOTICES,
    ),
    Mutant(
        "what is over is sent all the same", "webhooks", "services/auditor/webhook_job.py",
        "    if notice is None or notice.number != number:\n", "    if notice is None:\n", NOTICES,
    ),
    Mutant(
        "a webhook outlives its game", "P9", "services/ledger/log/game_indexes.py",
        "        keys.webhooks(partition, game),\n", "", NOTICES,
    ),
)  # fmt: skip
