"""`python -m tests.mutants`: plant every bug, and check that a test notices it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.noticing import Outcome, Trees, failing_without, find_out, trees
from tests.mutants.planted import MUTANTS

out: Final = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
aside: Final = Console(stderr=True, highlight=False)
app = typer.Typer(add_completion=False)
NOTICED_BY: Final = ROOT / "tests" / "mutants" / "noticed_by.json"


@app.command()
def mutants(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only those whose name has one of these.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="How many at a time.")] = 2,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Leave out those that were noticed in the run that the report is of."),
    ] = False,
    report: Annotated[Path, typer.Option(help="Where outcomes go as they come, one a line.")] = Path(
        "mutants.jsonl"
    ),
) -> None:
    """Plant bugs, one at a time, in copies of this tree, and report which test noticed each; the next run begins with it.

    Exit code 1 if a bug survives, 2 if a test that noticed one fails without any bug, too."""
    chosen = [mutant for mutant in MUTANTS if not names or any(name in mutant.name for name in names)]
    if not chosen:
        raise typer.BadParameter(f"unknown bug; there are {', '.join(m.name for m in MUTANTS)}")
    if not resume:
        report.unlink(missing_ok=True)
    outcomes = {each.name: each for each in reported(report) if each.noticed_by}
    with trees(jobs) as free:
        left = [mutant for mutant in chosen if mutant.name not in outcomes]
        outcomes |= {each.name: each for each in all_outcomes(left, free, jobs, report)}
        found = [outcomes[mutant.name] for mutant in chosen]
        tests = {each.noticed_by for each in found if each.noticed_by.startswith("tests/")}
        aside.print(f"{len(tests)} tests noticed bugs; now they are run without any", style="dim")
        always_fail = failing_without(tests, free)
    show(chosen, found)
    for test in always_fail:
        out.print(f"{test} fails without any bug, too: fix it first", style="red", markup=False)
    write_record([each for each in found if each.noticed_by not in always_fail])
    if always_fail or not all(each.noticed_by for each in found):
        raise typer.Exit(2 if always_fail else 1)


def all_outcomes(chosen: Sequence[Mutant], free: Trees, jobs: int, report: Path) -> Iterator[Outcome]:
    """The outcome of each bug as it is known; it is printed, and added to the report."""
    likeliest: dict[str, str] = json.loads(NOTICED_BY.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(jobs) as pool, report.open("a", encoding="utf-8") as lines:
        running = [pool.submit(find_out, each, likeliest.get(each.name, ""), free) for each in chosen]
        for number, done in enumerate(as_completed(running), 1):
            outcome = done.result()
            lines.write(json.dumps(outcome) + "\n")
            lines.flush()
            text = f"{number}/{len(chosen)} {outcome.seconds:4.0f} s  {outcome.name}: {outcome.noticed_by or 'SURVIVES'}"
            aside.print(text, markup=False, soft_wrap=True)
            yield outcome


def reported(report: Path) -> list[Outcome]:
    """The outcomes that a report has, none where there is no report."""
    if not report.exists():
        return []
    return [Outcome(*json.loads(line)) for line in report.read_text(encoding="utf-8").splitlines()]


def write_record(found: Sequence[Outcome]) -> None:
    """Add who noticed to the record, which has no bugs but those that are planted today."""
    before: dict[str, str] = json.loads(NOTICED_BY.read_text(encoding="utf-8"))
    now = before | {each.name: each.noticed_by for each in found if each.noticed_by.startswith("tests/")}
    planted_today = {mutant.name for mutant in MUTANTS}
    kept = {name: now[name] for name in sorted(now) if name in planted_today}
    NOTICED_BY.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def show(chosen: Sequence[Mutant], found: Sequence[Outcome]) -> None:
    table = Table("bug", "promise", "noticed by", "s", title=f"{len(found)} planted bugs", show_lines=False)
    for mutant, outcome in zip(chosen, found, strict=True):
        result = (
            outcome.noticed_by.removeprefix("tests/").replace("[", r"\[") or "[red]nobody: it survives[/]"
        )
        table.add_row(mutant.name, mutant.promise, result, f"{outcome.seconds:.0f}")
    out.print(table)
    survive = sum(not each.noticed_by for each in found)
    seconds = sum(each.seconds for each in found)
    out.print(f"{len(found) - survive} of {len(found)} noticed, {survive} survive; {seconds:.0f} s of tests.")


if __name__ == "__main__":
    app()
