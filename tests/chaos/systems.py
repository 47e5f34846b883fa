"""A whole system in processes of its own, to be broken: the services of compose.yaml on an engine or on a cluster."""

from __future__ import annotations

import resource
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import redis

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from tests.cluster.nodes import Cluster, cluster
from tests.deploy.compose import ROOT, Running, Stage, stage, wait_until
from tests.many_clients import settings_for_many_clients
from tests.process_faults.fsync_recorder import cut_power, recorder
from tests.process_faults.proxy import LossyProxy

SERVICES: Final = ("gateway", "referee", "referee", "bots")
PARTITIONS: Final = 16
QUIET: Final = {
    "LEDGERLINE_LOG_LEVEL": "info",
    "LEDGERLINE_RATE": "1000",
    "LEDGERLINE_PARTITIONS": str(PARTITIONS),
    "PYTHONPATH": f"{Path(__file__).parent / 'jumping_clock'}:{ROOT}",
}
DROP_RATE: Final = 0.02  # of the engine's replies, through the proxy


class EngineFaults:
    """What is done to an engine by its own commands. `client` is the operator's, `url` the gateway's."""

    client: Any
    url: str

    @contextmanager
    def without_memory(self) -> Iterator[None]:
        """It refuses every write that needs memory."""
        self.client.config_set("maxmemory", 1)
        try:
            yield
        finally:
            self.client.config_set("maxmemory", 0)

    def cut_connections(self) -> None:
        """Every client loses its connections, in the midst of whatever it does."""
        self.client.client_kill_filter(_type="normal", skipme=True)


class System(EngineFaults):
    """The services, and how to harm them."""

    def __init__(self, at: Stage) -> None:
        self.at, self.url = at, at.url
        self.services: list[Running] = []
        self.environment: dict[str, str] = dict(QUIET)

    def start_services(self) -> None:
        self.services = [self.at.start(name, **self.environment_of(name)) for name in SERVICES]
        wait_until(self.at.healthy)

    def environment_of(self, name: str) -> dict[str, str]:
        return self.environment

    def of(self, name: str) -> list[Running]:
        """The running services of this name."""
        return [service for service in self.services if service.name == name]

    def kill(self, service: Running) -> None:
        """Kill it with -9, and start another in its place."""
        service.kill()
        self._replace(service)

    def stop(self, service: Running) -> None:
        """Stop it with SIGTERM, as a new version is rolled out, and start another in its place."""
        assert service.stop() == 0, service.text()
        self._replace(service)

    def jump_clock(self, service: Running) -> None:
        """Its wall clock jumps ahead by half an hour, or back to where it should be."""
        service.process.send_signal(signal.SIGUSR1)

    def _replace(self, service: Running) -> None:
        self.services.remove(service)
        self.services.append(self.at.start(service.name, **self.environment_of(service.name)))

    @contextmanager
    def frozen(self, service: Running) -> Iterator[None]:
        """It does nothing, and its connections stay open."""
        service.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            service.process.send_signal(signal.SIGCONT)


class OneEngine(System):
    """Services on one engine, each as its own user. Of one that is `recorded` it is known what it has fsynced."""

    def __init__(self, at: Stage, recorded: bool = False) -> None:
        super().__init__(at)
        self.fsynced = at.folder / "fsynced"
        self.under = recorder(self.fsynced) if recorded else ()
        self.engine = at.start_engine(self.under)
        self.client = redis.Redis.from_url(at.engine_url)
        self.proxy: LossyProxy | None = None
        wait_until(self.is_up)

    def is_up(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False

    def environment_of(self, name: str) -> dict[str, str]:
        if self.proxy is None:
            return self.environment
        url = f"redis://{name}@127.0.0.1:{self.proxy.port}/0"
        return {**self.environment, "LEDGERLINE_REDIS_URL": url}

    def kill_engine(self, random: Random) -> None:
        """Kill the engine with -9, and start it again on what its disk has."""
        self.engine.kill()
        time.sleep(random.random() / 2)
        self.restart_engine()

    def cut_power(self, random: Random) -> None:
        """Kill the engine, leave of its AOF what was fsynced and any part of the rest, and start it again."""
        self.engine.kill()
        cut_power(self.at.folder / "appendonlydir", self.fsynced, random)
        self.restart_engine()

    def restart_engine(self) -> None:
        self.engine = self.at.start_engine(self.under)
        wait_until(self.is_up)

    def fill_disk(self) -> None:
        """Its files may grow no further, until it ends of that or a second is over; then there is room again."""
        pid = self.engine.process.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        time.sleep(1)
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        if self.engine.process.poll() is not None:
            self.restart_engine()


class ClusterSystem(System):
    """Services on a cluster of three primaries with a replica each."""

    def __init__(self, at: Stage, formed: Cluster) -> None:
        super().__init__(at)
        self.cluster = formed
        self.client = redis.RedisCluster.from_url(formed.url.replace("+cluster", "").split(",")[0])
        self.environment |= {"LEDGERLINE_ARCHIVE_URL": "", "LEDGERLINE_REDIS_URL": formed.url}

    def environment_of(self, name: str) -> dict[str, str]:
        """Its secrets are those of compose, without the password: all services are one user of the cluster."""
        folder = self.at.folder / f"cluster secrets of {name}"
        if not folder.exists():
            shutil.copytree(self.at.mounted_secrets(name), folder)
            (folder / "ledgerline_redis_password").unlink()
        return {**self.environment, "LEDGERLINE_SECRETS_DIR": str(folder)}


@contextmanager
def one_engine(
    folder: Path, binary: Path | None = None, *, lossy: bool = False, recorded: bool = False
) -> Iterator[OneEngine]:
    """A system on one engine; `lossy` puts a proxy before it that drops replies, `recorded` lets its power be cut."""
    with ExitStack() as exits:
        at = exits.enter_context(stage(folder))
        at.engine_binary = binary
        system = OneEngine(at, recorded)
        exits.callback(system.client.close)
        if lossy:
            proxy = LossyProxy(at.engine_port, "chaos", DROP_RATE)
            system.proxy = exits.enter_context(proxy.open())
        system.start_services()
        yield system


@contextmanager
def on_a_cluster(folder: Path) -> Iterator[ClusterSystem]:
    """A system on a cluster."""
    with ExitStack() as exits:
        formed = exits.enter_context(cluster(folder / "nodes"))
        system = ClusterSystem(exits.enter_context(stage(folder)), formed)
        exits.callback(system.client.close)
        system.start_services()
        yield system


class OneProcess(EngineFaults):
    """All services in this process, which can't be harmed alone, on an engine, which can."""

    def __init__(self, running: EmbeddedServer) -> None:
        self.url, self.client = running.url, redis.Redis.from_url(running.settings.redis_url)


@contextmanager
def in_one_process(folder: Path) -> Iterator[OneProcess]:
    """What `ledgerline serve` runs: up in a second."""
    with run_embedded_server(folder, settings_for_many_clients()) as running:
        system = OneProcess(running)
        yield system
        system.client.close()
