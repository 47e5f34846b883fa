"""The evaluator computes what Prometheus would: examples worked out by its documentation's words and its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.observe.promql import Moment, evaluate
from tests.observe.series import Labels, Recording

Values = Sequence[float | None]


def run_of(every_s: float = 10.0, **series: Values) -> Moment:
    """The last moment of a run with these series, by name."""
    count = max(map(len, series.values()))
    named: dict[Labels, Values] = {(("__name__", name),): values for name, values in series.items()}
    return Moment(Recording("a run", [every_s * index for index in range(count)], 0.0, named), count - 1)


def labelled(*series: tuple[Mapping[str, str], Values]) -> Moment:
    named = {tuple(sorted(labels.items())): values for labels, values in series}
    count = len(series[0][1])
    return Moment(Recording("a run", [10.0 * index for index in range(count)], 0.0, named), count - 1)


@pytest.mark.parametrize(
    ("values", "increase"),
    [
        ([0, 0, 0, 0, 0, 0, 0], 0),
        ([100, 101, 102, 103, 104, 105, 106], 6 * 60 / 60),  # the seven samples span the minute less one
        ([100, 110, 120, 5, 15, 25, 35], 60 * (20 + 35 - 0) / 60),  # a restart counts from zero
    ],
)
def test_increase_of_a_minute(values: list[float], increase: float) -> None:
    [found] = evaluate("increase(a_total[1m])", run_of(a_total=values)).values()  # type: ignore[union-attr]  # a vector
    assert found == pytest.approx(increase, rel=0.25)
    assert (found > 0) == (increase > 0)


def test_an_increase_is_extrapolated_to_the_ends_of_its_range() -> None:
    # six samples of the last 50 s, 10 s apart: each end is near enough, so 50 s of growth count for 60 s
    [found] = evaluate(
        "increase(a_total[1m])", run_of(a_total=[1000, 1010, 1020, 1030, 1040, 1050, 1060])
    ).values()  # type: ignore[union-attr]  # a vector
    assert found == pytest.approx(60)


def test_one_sample_has_no_increase_and_a_series_that_began_late_none_before() -> None:
    assert evaluate("increase(a_total[1m])", run_of(a_total=[None, None, 7])) == {}


def test_changes_counts_values_that_differ_from_the_one_before() -> None:
    [found] = evaluate("changes(a[1m])", run_of(a=[1, 1, 2, 2, None, 3])).values()  # type: ignore[union-attr]  # a vector
    assert found == 2


def test_a_series_that_the_last_scrape_didn_t_have_is_stale() -> None:
    assert evaluate("a", run_of(a=[1, 2, None], b=[1, 1, 1])) == {}


def test_a_comparison_filters() -> None:
    assert evaluate("a > 2", run_of(a=[3])) == {(("__name__", "a"),): 3}
    assert evaluate("a > 3", run_of(a=[3])) == {}


def test_an_aggregate_keeps_the_labels_that_it_names() -> None:
    moment = labelled(
        ({"__name__": "a", "kind": "x", "pod": "1"}, [1]),
        ({"__name__": "a", "kind": "x", "pod": "2"}, [2]),
        ({"__name__": "a", "kind": "y", "pod": "1"}, [4]),
    )
    assert evaluate("sum by (kind) (a)", moment) == {(("kind", "x"),): 3, (("kind", "y"),): 4}
    assert evaluate("max(a)", moment) == {(): 4}


def test_two_sides_are_matched_by_their_labels_without_those_that_are_ignored() -> None:
    moment = labelled(
        ({"__name__": "a_count", "pod": "1"}, [5]),
        ({"__name__": "a_count", "pod": "2"}, [5]),
        ({"__name__": "a_bucket", "pod": "1", "le": "1"}, [3]),
    )
    assert evaluate('a_count - ignoring(le) a_bucket{le="1"}', moment) == {(("pod", "1"),): 2}


def test_or_and_and_and_unless() -> None:
    moment = run_of(a=[1], b=[2])
    assert evaluate("a > 1 or b", moment) == {(("__name__", "b"),): 2}
    assert evaluate("max(a) and max(b)", moment) == {(): 1}
    assert evaluate("max(a) unless max(b)", moment) == {}


@pytest.mark.parametrize("expression", ["rate(a[1m])", "a offset 5m", "topk(2, a)", "-a", "quantile(0.5, a)"])
def test_what_isn_t_known_here_raises(expression: str) -> None:
    with pytest.raises((NotImplementedError, AssertionError, KeyError)):
        evaluate(expression, run_of(a=[1, 2]))
