"""A whole system in processes of its own, to be broken: the services of compose.yaml on an engine or on a cluster."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
import redis

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.cli.operating.keys import password_file
from tests.cluster.nodes import Cluster, cluster
from tests.deploy.compose import ROOT, Running, Stage, free_port, stage, wait_until
from tests.deploy.test_proxies import start_caddy
from tests.many_clients import settings_for_many_clients
from tests.process_faults.fsync_recorder import cut_power, recorder
from tests.process_faults.proxy import LossyProxy
from tests.small_disk import SmallDisk, small_disk

SERVICES: Final = ("gateway", "referee", "referee", "bots")
PARTITIONS: Final = 16
QUIET: Final = {
    "LEDGERLINE_LOG_LEVEL": "info",
    "LEDGERLINE_RATE": "1000",
    "LEDGERLINE_PARTITIONS": str(PARTITIONS),
    "PYTHONPATH": f"{Path(__file__).parent / 'jumping_clock'}:{ROOT}",
}
PROXY_LOOKS_S: Final = 2.5  # a little more than the recipe's health_interval
PAUSED_MS: Final = 120_000  # of writes, at most, until a replica has all
DISK_MIB: Final = 16  # of an engine's own disk
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

    def start_services(self, names: Sequence[str] = SERVICES) -> None:
        """Start these; a gateway after the first has a port of its own."""
        for name in names:
            beside = {"LEDGERLINE_PORT": str(free_port())} if name == "gateway" and self.of(name) else {}
            self.services.append(self.at.start(name, **self.environment_of(name), **beside))
        wait_until(self._are_up)

    def _are_up(self) -> bool:
        """Raises RuntimeError: a service ended, and nothing would ever be up."""
        for service in self.services:
            if service.process.poll() is not None:
                raise RuntimeError(f"{service.name} ended: {service.text()[-500:]}")
        return self.at.healthy()

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

    def await_gateway(self, gateway: Running) -> None:
        """Return when it takes players, as a proxy finds out by its health check."""
        url = f"http://127.0.0.1:{gateway.given.get('LEDGERLINE_PORT', self.at.gateway_port)}/health/ready"
        wait_until(lambda: httpx.get(url, trust_env=False, timeout=10).is_success)
        time.sleep(PROXY_LOOKS_S)

    def jump_clock(self, service: Running) -> None:
        """Its wall clock jumps ahead by half an hour, or back to where it should be."""
        service.process.send_signal(signal.SIGUSR1)

    def _replace(self, service: Running) -> None:
        self.services.remove(service)
        self.services.append(
            self.at.start(service.name, **{**service.given, "LEDGERLINE_METRICS": service.metrics})
        )

    @contextmanager
    def frozen(self, service: Running) -> Iterator[None]:
        """It does nothing, and its connections stay open."""
        service.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            service.process.send_signal(signal.SIGCONT)


class OneEngine(System):
    """Services on one engine, each as its own user. Of one that is `recorded` it is known what it has fsynced; one with a
    `disk` has that to itself."""

    def __init__(self, at: Stage, recorded: bool = False, disk: SmallDisk | None = None) -> None:
        super().__init__(at)
        self.fsynced, self.disk = at.folder / "fsynced", disk
        self.under = disk.enter if disk else recorder(self.fsynced) if recorded else ()
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

    def upgrade_engine(self) -> None:
        """Stop the engine, and start the embedded build on what it leaves: a newer one, if another was chosen."""
        assert self.engine.stop() == 0, self.engine.text()
        self.at.engine_binary = None
        self.restart_engine()

    def fail_over(self) -> None:
        """A replica, of the embedded build, follows the engine, which then takes no writes until all is there; the replica
        takes over, and each service is replaced by one that has its address. (FAILOVER does the same, but Valkey 9.1.2
        refuses it from Redis 7.0.15.)"""
        old, old_client, old_port = self.engine, self.client, self.at.engine_port
        word = password_file(self.at.folder / "secrets", "operator").read_text()
        self.at.engine_binary, self.at.engine_port = None, free_port()
        self.at.engine_folder = self.at.folder / f"engine at {self.at.engine_port}"
        self.at.engine_folder.mkdir()
        follows = ("--replicaof", f"127.0.0.1 {old_port}", "--masteruser", "operator", "--masterauth", word)
        self.at.engine_words, self.at.engine_url = (
            follows,
            self.at.engine_url_of("operator", self.at.engine_port),
        )
        self.engine = self.at.start_engine()
        self.client = redis.Redis.from_url(self.at.engine_url)
        wait_until(lambda: self.is_up() and self.client.info("replication")["master_link_status"] == "up")
        old_client.client_pause(PAUSED_MS, all=False)
        end = old_client.info("replication")["master_repl_offset"]
        wait_until(lambda: self.client.info("replication")["slave_repl_offset"] >= end)
        self.client.replicaof("NO", "ONE")
        old.kill()  # before its pause is over
        old_client.close()
        self.at.engine_words = ()
        for service in [*self.services]:
            self.stop(service)

    def fill_own_disk(self) -> None:
        """Its disk is full until it has ended of that; then there is room again, and it is started."""
        assert self.disk is not None
        self.disk.use_up()
        self.engine.process.wait()
        self.disk.make_room()
        self.restart_engine()

    def move(self) -> None:
        """Everything goes to another disk, as an operator does it: services stopped, a backup, its engine's files on the
        new disk, services started."""
        for service in self.services:
            assert service.stop() == 0, service.text()
        backup, data = self.at.folder / "backup", self.at.folder / "restored"
        for folder in (backup, data):
            shutil.rmtree(folder, ignore_errors=True)
        self._ledgerline("backup", str(backup))
        self.engine.kill()
        shutil.rmtree(self.at.folder / "appendonlydir")
        self._ledgerline("restore", str(backup), str(data))
        shutil.move(data / "appendonlydir", self.at.folder)
        self.restart_engine()
        for service in [*self.services]:
            self._replace(service)

    def _ledgerline(self, *words: str) -> None:
        """Run a command as the operator."""
        given = {
            "LEDGERLINE_REDIS_URL": self.at.engine_url,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
        }
        program = [sys.executable, str(ROOT / "deploy" / "ledgerline"), *words]
        done = subprocess.run(
            program, env=given, cwd=self.at.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


class ProxiedSystem(OneEngine):
    """Two gateways, behind the proxy of compose's profile."""

    def __init__(self, at: Stage) -> None:
        super().__init__(at)
        self.environment |= {"LEDGERLINE_PROXIES": "127.0.0.1"}

    def start_services(self, names: Sequence[str] = ("gateway", *SERVICES)) -> None:
        super().start_services(names)
        port, ports = free_port(), [self.at.gateway_port, int(self.services[1].given["LEDGERLINE_PORT"])]
        words, given, _, _ = start_caddy(self.at.folder, port, ports)
        self.url = f"http://127.0.0.1:{port}"
        environment = {"PATH": os.environ["PATH"], **given, "LEDGERLINE_PUBLIC_URL": self.url}
        self.at.running.append(Running("proxy", words, environment, self.at.folder))
        wait_until(lambda: httpx.get(f"{self.url}/health/ready", trust_env=False).is_success)


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
    folder: Path,
    binary: Path | None = None,
    *,
    lossy: bool = False,
    recorded: bool = False,
    proxied: bool = False,
    own_disk: bool = False,
) -> Iterator[OneEngine]:
    """A system on one engine; `lossy` puts a proxy before it that drops replies, `recorded` lets its power be cut,
    `proxied` has two gateways behind one address, `own_disk` lets the engine's fill up."""
    with ExitStack() as exits:
        disk = exits.enter_context(small_disk(folder / "disk", DISK_MIB)) if own_disk else None
        at = exits.enter_context(stage(folder))
        at.engine_binary, at.engine_folder = binary, folder / "disk" if own_disk else folder
        system = ProxiedSystem(at) if proxied else OneEngine(at, recorded, disk)
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
