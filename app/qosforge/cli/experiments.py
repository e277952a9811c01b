"""Commands about the published experiments: list, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from qosforge.cli.claims import print_claims, print_count
from qosforge.cli.options import AsJson, Seed
from qosforge.cli.output import print_error, print_json, require_writable, write_file
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import progress
from qosforge.errors import InputError, NotInstalled, Place
from qosforge.experiments import ClaimComparison, ExperimentSession, document, experiment_names, load_experiment
from qosforge.experiments.compare import compare_claims
from qosforge.experiments.model import Experiment
from qosforge.experiments.running import ExperimentOutcome

app = typer.Typer(no_args_is_help=True)

Name = Annotated[
    str | None, typer.Argument(help="An experiment's name, as `experiment list` has it.", metavar="NAME")
]
All = Annotated[bool, typer.Option("--all", help="Run every experiment.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Write the experiment's plots to this SVG file.")]
Claims = Annotated[bool, typer.Option("--claims", help="Print every claim, not only those that do not hold.")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(
        app, name="experiment", help="The papers' experiments, run in the twin and compared claim by claim."
    )


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """Name the experiments, with their papers and numbers of claims."""
    experiments = [load_experiment(name) for name in experiment_names()]
    if as_json:
        print_json(
            [
                {"name": e.name, "title": e.title, "paper": e.paper.model_dump(), "claims": len(e.claims)}
                for e in experiments
            ]
        )
        return
    table = Table(box=None, padding=(0, 1))
    for heading, justify in (("experiment", "left"), ("claims", "right"), ("what", "left"), ("paper", "left")):
        table.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    for e in experiments:
        table.add_row(e.name, str(len(e.claims)), e.title, e.paper.cited)
    print_table(table)


@app.command()
def run(
    name: Name = None,
    all_: All = False,
    plot: PlotFile = None,
    claims: Claims = False,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and compare it with what was published.

    Exit code 1: a claim fails without a reason; 3: with --all, some could not be run, all others were.
    """
    names = _choose(name, all_, plot)
    draw = None if plot is None else _drawing(load_experiment(names[0]), plot)
    session = ExperimentSession(seed)
    documents: list[dict[str, Any]] = []
    compared: list[ClaimComparison] = []
    not_run: dict[str, NotInstalled] = {}
    for chosen in names:
        experiment = load_experiment(chosen)
        progress(chosen, experiment.title)
        try:
            outcome = session.outcome(chosen)
        except NotInstalled as missing:
            if not all_:
                raise
            not_run[chosen] = missing
            documents.append({"version": 1, "experiment": chosen, "not_run": missing.document()})
            continue
        comparisons = compare_claims(session, experiment)
        compared += comparisons
        if as_json:
            documents.append(document(outcome, comparisons))
        else:
            print_claims(experiment.name, comparisons, every=claims)
        if plot is not None and draw is not None:
            write_file(plot, draw(outcome))
    if as_json:
        print_json(documents if all_ else documents[0])
    elif all_:
        print_count("all", compared)
    _told_of(not_run)
    if not all(comparison.explained for comparison in compared):
        raise typer.Exit(1)
    if not_run:
        raise typer.Exit(NotInstalled.exit_code)


def _told_of(not_run: Mapping[str, NotInstalled]) -> None:
    """Why experiments were not run: each reason once, with all that it kept from running."""
    reasons: dict[str, list[str]] = {}
    for name, missing in not_run.items():
        reasons.setdefault(str(missing), []).append(name)
    for names in reasons.values():
        missing = not_run[names[0]]
        print_error(replace(missing, message=f"not run: {', '.join(names)}: {missing.message}"))


def _drawing(experiment: Experiment, plot: Path) -> Callable[[ExperimentOutcome], str]:
    """What draws the plots; a missing plot or a wrong place is told before anything runs."""
    from qosforge.experiments.figures import combined_figure, require_plots  # noqa: PLC0415 - matplotlib takes a second to load

    require_plots(experiment)
    if plot.suffix.lower() not in ("", ".svg"):
        raise InputError("plots are SVG", Place(file=str(plot)), f"name it {plot.with_suffix('.svg').name}")
    require_writable(plot)
    return combined_figure


def _choose(name: str | None, all_: bool, plot: Path | None) -> Sequence[str]:
    if all_ and (name is not None or plot is not None):
        raise InputError("--all takes neither a name nor --plot", hint="name one experiment, or give --all alone")
    if not all_ and name is None:
        raise InputError(
            "no experiment is named", hint=f"name one of {', '.join(experiment_names())}, or give --all"
        )
    return experiment_names() if name is None else (name,)
