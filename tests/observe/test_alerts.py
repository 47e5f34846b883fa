"""Each fault of `make chaos` raises its alert within a minute, and no healthy run raises any.

The runs were recorded by `python -m tests.observe.record`, from services whose metrics were scraped while each fault
was really done to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import promql_parser
import pytest

from services.metrics.declared import DECLARED, Histogram
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.observe.alert_rules import OBSERVE, Rule, first_firing_s, read_rules
from tests.observe.series import Labels, Recording, read_recording

WITHIN_S: Final = 60.0
IN_FLIGHT_S: Final = 2.0  # a scrape that began so long before a fault may have read what it did
RULES: Final = {rule.name: rule for rule in read_rules()}
ITS_ALERT: Final[Mapping[str, str]] = {
    "a referee is killed": "ServiceRestarted",
    "all referees are killed": "ServiceRestarted",
    "a referee is frozen for 4 s": "LoopStoodStill",
    "the gateway is killed": "ServiceRestarted",
    "the bots are killed": "ServiceRestarted",
    "every service is stopped in turn": "ServiceRestarted",
    "two gateways behind a proxy are replaced in turn": "ServiceRestarted",
    "wall clocks jump by half an hour": "WallClockWrong",
    "the engine is killed": "EngineAway",
    "the engine's power is cut": "EngineAway",
    "the engine is frozen for 3 s": "LoopStoodStill",
    "the engine has no memory for 3 s": "EngineRefusesWrites",
    "the engine's disk is full for 1 s": "EngineAway",  # it ends: appendfsync always
    "the engine's own disk is full until there is room": "EngineAway",
    "the engine is stopped, and a newer one started": "EngineAway",
    "the engine's replica takes over": "ServiceRestarted",
    "all is moved by backup and restore": "ServiceRestarted",
    "all connections to the engine are cut, 5 times": "EngineAway",
    "2 % of the engine's replies are lost": "EngineAway",
    "a primary is killed": "EngineAway",
    "a primary is lost, and what its replica hadn't got": "EngineAway",
    "a replica is promoted": "EngineMoved",
    "a primary is frozen for 8 s": "EngineAway",
    "slots move": "EngineMoved",
}
HEALTHY: Final = {"no fault", "no fault (cluster)"}


def test_every_fault_of_chaos_has_its_alert() -> None:
    assert {scenario.name for scenario in SCENARIOS} == ITS_ALERT.keys() | HEALTHY


@pytest.mark.parametrize(
    "scenario", [each for each in SCENARIOS if each.name in ITS_ALERT], ids=lambda each: each.name
)
def test_a_fault_raises_its_alert_within_a_minute(scenario: Scenario) -> None:
    run = read_recording(scenario.name)
    began_s = run.times_s[0] if scenario.lossy else run.fault_s
    fires_s = first_firing_s(RULES[ITS_ALERT[scenario.name]], run)
    assert fires_s is not None
    assert -IN_FLIGHT_S <= fires_s - began_s <= WITHIN_S


@pytest.mark.parametrize(
    "scenario", [each for each in SCENARIOS if not each.lossy], ids=lambda each: each.name
)
def test_nothing_is_raised_while_all_is_well(scenario: Scenario) -> None:
    run = read_recording(scenario.name)
    end_s = run.times_s[-1] + 1 if scenario.name in HEALTHY else run.fault_s - IN_FLIGHT_S
    assert sum(at_s < end_s for at_s in run.times_s) >= 4, "long enough to raise what is raised at once"
    fired = {rule.name: first_firing_s(rule, run) for rule in RULES.values()}
    assert {name for name, fires_s in fired.items() if fires_s is not None and fires_s < end_s} == set()


# -- what no fault of chaos is about -----------------------------------------------------------


def made(*series: tuple[str, Mapping[str, str], float, float], jobs: str = "ledgerline") -> Recording:
    """Three minutes of scrapes, in which each of these series has its first value, and then its second."""
    times_s = [5.0 * index for index in range(36)]
    named: dict[Labels, list[float | None]] = {
        tuple(sorted({"__name__": name, "job": jobs, "instance": "one", **labels}.items())): [
            *[first] * 12,
            *[second] * 24,
        ]
        for name, labels, first, second in series
    }
    return Recording("made", times_s, 60.0, named)


MADE: Final[Mapping[str, Recording]] = {
    "ServiceDown": made(("up", {}, 1, 0)),
    "NoReferee": made(("ledgerline_services", {"kind": "referee"}, 2, 0)),
    "NoBots": made(
        ("ledgerline_services", {"kind": "bots"}, 1, 0),
        ("ledgerline_queue_length", {"queue": "bot_tasks", "partition": "3"}, 4, 4),
    ),
    "LoopHangs": made(("ledgerline_loop_silence_seconds", {"service": "referee"}, 0.3, 12)),
    "FilesRunOut": made(("process_open_fds", {}, 100, 850), ("process_max_fds", {}, 1_000, 1_000)),
    "CommandsWait": made(("ledgerline_queue_oldest_seconds", {"queue": "commands", "partition": "3"}, 1, 11)),
    "BotTasksWait": made(
        ("ledgerline_queue_oldest_seconds", {"queue": "bot_tasks", "partition": "3"}, 11, 21)
    ),
    "AnswersUnknown": made(("ledgerline_unknown_answers_total", {}, 5, 6)),
    "RequestsFail": made(("ledgerline_http_requests_total", {"status": "500"}, 2, 3)),
    "DeadLetter": made(("ledgerline_commands_total", {"verdict": "dead", "rule": ""}, 1, 2)),
    "ViewsCut": made(("ledgerline_follow_ends_total", {"reason": "damaged"}, 1, 2)),
    "JobFailed": made(("ledgerline_jobs_total", {"job": "archive", "result": "failed"}, 0, 1)),
    "ArchiveLags": made(("ledgerline_archive_lag_seconds", {}, 30, 901)),
    "EngineSlow": made(
        ("ledgerline_engine_write_seconds_count", {}, 10, 11),
        ("ledgerline_engine_write_seconds_bucket", {"le": "1"}, 10, 10),
    ),
    "EngineMemoryFull": made(
        ("ledgerline_engine_memory_bytes", {"node": ""}, 700, 900),
        ("ledgerline_engine_memory_limit_bytes", {"node": ""}, 1_000, 1_000),
    ),
    "EngineDropsKeys": made(("ledgerline_engine_evicted_keys", {"node": ""}, 0, 4)),
    "AofFails": made(("ledgerline_engine_aof_ok", {"node": ""}, 1, 0)),
    "DiskNearlyFull": made(
        ("ledgerline_disk_free_bytes", {"disk": "engine"}, 500, 90),
        ("ledgerline_disk_size_bytes", {"disk": "engine"}, 1_000, 1_000),
    ),
}


def test_every_rule_is_raised_by_a_fault_of_chaos_or_here() -> None:
    assert RULES.keys() == {*ITS_ALERT.values()} | MADE.keys()


@pytest.mark.parametrize("name", MADE)
def test_a_fault_that_is_made_here_raises_its_alert_within_a_minute(name: str) -> None:
    fires_s = first_firing_s(RULES[name], MADE[name])
    assert fires_s is not None
    assert 0 <= fires_s - MADE[name].fault_s <= WITHIN_S


def test_an_engine_without_a_memory_limit_is_never_full() -> None:
    run = made(
        ("ledgerline_engine_memory_bytes", {"node": ""}, 700, 900),
        ("ledgerline_engine_memory_limit_bytes", {"node": ""}, 0, 0),
    )
    assert first_firing_s(RULES["EngineMemoryFull"], run) is None


# -- names -------------------------------------------------------------------------------------


def shown_names() -> set[str]:
    """Every name that Prometheus can read of the services, and of a scrape."""
    names = {"up", "ALERTS", "process_start_time_seconds", "process_open_fds", "process_max_fds"}
    names |= {"process_cpu_seconds_total", "process_resident_memory_bytes"}
    for metric in DECLARED:
        names |= (
            {f"{metric.name}_{suffix}" for suffix in ("bucket", "count", "sum")}
            if isinstance(metric, Histogram)
            else {metric.name}
        )
    return names


def dashboard_expressions() -> list[str]:
    text = (OBSERVE / "grafana" / "dashboards" / "ledgerline.json").read_text()
    return [
        found.encode().decode("unicode_escape") for found in re.findall(r'"expr": "((?:[^"\\]|\\.)*)"', text)
    ]


def named_in(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:ledgerline|process)_\w+|\bup\b|\bALERTS\b", expression))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_names_only_metrics_that_there_are(rule: Rule) -> None:
    promql_parser.parse(rule.expression)
    assert named_in(rule.expression)
    assert named_in(rule.expression) <= shown_names()
    assert rule.severity in ("page", "notice")
    assert rule.for_s <= WITHIN_S / 2


def test_the_dashboard_names_only_metrics_that_there_are_and_all_of_them() -> None:
    expressions = dashboard_expressions()
    assert len(expressions) > 40
    named = set[str]()
    for expression in expressions:
        promql_parser.parse(expression)
        assert named_in(expression) <= shown_names(), expression
        named |= named_in(expression)
    stems = {name.removesuffix("_bucket") for name in named}
    assert {metric.name for metric in DECLARED} - stems == {
        "ledgerline_wall_clock_seconds"
    }  # an alert has it


def test_labels_that_rules_and_dashboard_choose_by_exist() -> None:
    labels = {metric.name: {*metric.labels, "le", "job", "instance"} for metric in DECLARED}
    expressions = [*(rule.expression for rule in RULES.values()), *dashboard_expressions()]
    for expression in expressions:
        for name, chosen in re.findall(r"(ledgerline_\w+)\{([^}]*)\}", expression):
            stem = re.sub(r"_(bucket|count|sum)$", "", name)
            assert set(re.findall(r"(\w+)[=!]", chosen)) <= labels[stem], expression
