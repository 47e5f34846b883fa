"""The faults, each a function that does it and undoes it, with what must hold afterwards."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple

from tests.chaos.systems import PARTITIONS, ClusterSystem, OneEngine, System

FREEZE_S: Final = 4.0
OUTAGE_S: Final = 3.0
ALL_LEVELS: Final = ("accepted", "decided", "durable")
CLUSTER_LEVELS: Final = (*ALL_LEVELS, "replicated:1")
Fault = Callable[[Any, Random], object]  # on a System, one engine's or a cluster's


class Scenario(NamedTuple):
    """A fault, on which system, and the levels that must survive it. Recovery counts from the moment at which the fault
    began, or from its end where nothing can be decided before."""

    name: str
    fault: Fault
    on_cluster: bool = False
    covered: tuple[str, ...] = ALL_LEVELS
    from_begin: bool = True
    may_lose: bool = False  # entries that were shown to players
    lossy: bool = False  # every service behind a proxy that drops replies
    recorded: bool = False  # the engine under a program that knows what it has fsynced
    proxied: bool = False  # two gateways behind a proxy
    own_disk: bool = False  # the engine's, a small one

    @property
    def levels(self) -> tuple[str, ...]:
        """What players ask for."""
        return CLUSTER_LEVELS if self.on_cluster else ALL_LEVELS


def nothing(system: System, random: Random) -> None:
    """No fault: how long players wait anyway."""


def kill_a_referee(system: System, random: Random) -> None:
    system.kill(random.choice(system.of("referee")))


def kill_all_referees(system: System, random: Random) -> None:
    for referee in system.of("referee"):
        system.kill(referee)


def freeze_a_referee(system: System, random: Random) -> None:
    with system.frozen(random.choice(system.of("referee"))):
        time.sleep(FREEZE_S)


def kill_the_gateway(system: System, random: Random) -> None:
    system.kill(system.of("gateway")[0])


def kill_the_bots(system: System, random: Random) -> None:
    system.kill(system.of("bots")[0])


def roll_out(system: System, random: Random) -> None:
    for service in list(system.services):
        system.stop(service)
        time.sleep(1)


def roll_the_gateways(system: System, random: Random) -> None:
    """A new version of each, one after the other, while the proxy has players go to the one that is there."""
    for gateway in system.of("gateway"):
        system.stop(gateway)
        system.await_gateway(system.of("gateway")[-1])


def jump_clocks(system: System, random: Random) -> None:
    """Some services' wall clocks jump, ahead or back."""
    for service in random.sample(system.services, random.randint(1, len(system.services))):
        system.jump_clock(service)


def kill_the_engine(system: OneEngine, random: Random) -> None:
    system.kill_engine(random)


def cut_the_power(system: OneEngine, random: Random) -> None:
    system.cut_power(random)


def freeze_the_engine(system: OneEngine, random: Random) -> None:
    with system.frozen(system.engine):
        time.sleep(OUTAGE_S)


def use_up_the_memory(system: OneEngine, random: Random) -> None:
    with system.without_memory():
        time.sleep(OUTAGE_S)


def fill_the_disk(system: OneEngine, random: Random) -> None:
    system.fill_disk()


def upgrade_the_engine(system: OneEngine, random: Random) -> None:
    system.upgrade_engine()


def fail_over_to_a_replica(system: OneEngine, random: Random) -> None:
    system.fail_over()


def fill_the_engines_own_disk(system: OneEngine, random: Random) -> None:
    system.fill_own_disk()


def move_to_another_disk(system: OneEngine, random: Random) -> None:
    system.move()


def cut_all_connections(system: OneEngine, random: Random) -> None:
    for _ in range(5):
        system.cut_connections()
        time.sleep(random.random() / 5)


def kill_a_primary(system: ClusterSystem, random: Random) -> None:
    nodes = system.cluster
    partition = random.randrange(PARTITIONS)
    primary = nodes.holder(partition)
    primary.kill()
    nodes.await_successor(partition, primary)
    nodes.revive(primary)


def lose_a_primary_with_its_last_writes(system: ClusterSystem, random: Random) -> None:
    nodes = system.cluster
    partition = random.randrange(PARTITIONS)
    primary = nodes.holder(partition)
    nodes.kill_with_loss(primary, lambda: time.sleep(0.5))
    nodes.await_successor(partition, primary)
    nodes.revive(primary)


def promote_a_replica(system: ClusterSystem, random: Random) -> None:
    """As before a primary is upgraded."""
    system.cluster.promote(random.randrange(PARTITIONS))


def freeze_a_primary(system: ClusterSystem, random: Random) -> None:
    """Longer than the fail-over takes."""
    primary = system.cluster.holder(random.randrange(PARTITIONS))
    primary.process.send_signal(signal.SIGSTOP)
    time.sleep(2 * FREEZE_S)
    primary.process.send_signal(signal.SIGCONT)
    system.cluster.await_peace()


def move_slots(system: ClusterSystem, random: Random) -> None:
    """Each way that slots move in, under the commands of their games."""
    nodes = system.cluster
    for partition in random.sample(range(PARTITIONS), 4):
        nodes.move(partition, nodes.other_primary(nodes.holder(partition)), 0.01)


SCENARIOS: Final = (
    Scenario("no fault", nothing),
    Scenario("a referee is killed", kill_a_referee),
    Scenario("all referees are killed", kill_all_referees),
    Scenario("a referee is frozen for 4 s", freeze_a_referee),
    Scenario("the gateway is killed", kill_the_gateway),
    Scenario("the bots are killed", kill_the_bots),
    Scenario("every service is stopped in turn", roll_out),
    Scenario("two gateways behind a proxy are replaced in turn", roll_the_gateways, proxied=True),
    Scenario("wall clocks jump by half an hour", jump_clocks),
    Scenario("the engine is killed", kill_the_engine, from_begin=False),
    Scenario("the engine's power is cut", cut_the_power, from_begin=False, recorded=True),
    Scenario("the engine is frozen for 3 s", freeze_the_engine, from_begin=False),
    Scenario("the engine has no memory for 3 s", use_up_the_memory, from_begin=False),
    Scenario("the engine's disk is full for 1 s", fill_the_disk, from_begin=False),
    Scenario(
        "the engine's own disk is full until there is room",
        fill_the_engines_own_disk,
        from_begin=False,
        own_disk=True,
    ),
    Scenario("the engine is stopped, and a newer one started", upgrade_the_engine, from_begin=False),
    Scenario("the engine's replica takes over", fail_over_to_a_replica),
    Scenario("all is moved by backup and restore", move_to_another_disk, from_begin=False),
    Scenario("all connections to the engine are cut, 5 times", cut_all_connections, from_begin=False),
    Scenario("2 % of the engine's replies are lost", nothing, lossy=True),
    Scenario("no fault (cluster)", nothing, on_cluster=True, covered=CLUSTER_LEVELS),
    Scenario("a primary is killed", kill_a_primary, True, ("replicated:1",), may_lose=True),
    Scenario(
        "a primary is lost, and what its replica hadn't got",
        lose_a_primary_with_its_last_writes,
        True,
        ("replicated:1",),
        may_lose=True,
    ),
    Scenario("a replica is promoted", promote_a_replica, True, CLUSTER_LEVELS, from_begin=False),
    Scenario("a primary is frozen for 8 s", freeze_a_primary, True, ("replicated:1",), may_lose=True),
    Scenario("slots move", move_slots, True, CLUSTER_LEVELS, from_begin=False),
)
