"""Commands about the published experiments: list, run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from app.cli.options import AsJson, Seed
from app.cli.output import out, print_json, progress, write_file
from app.errors import InputError
from app.experiments import Comparison, Session, document, experiment_names, load_experiment
from app.experiments.compare import compare
from app.experiments.pictures import picture

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
    out.print(table)


@app.command()
def run(
    name: Name = None,
    all_: All = False,
    plot: PlotFile = None,
    claims: Claims = False,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and compare it with what was published. Exit code 1: a claim fails without a reason."""
    names = _chosen(name, all_, plot)
    session = Session(seed)
    documents: list[dict[str, Any]] = []
    unexplained = False
    for chosen in names:
        experiment = load_experiment(chosen)
        progress(chosen, experiment.title)
        outcome = session.outcome(chosen)
        comparisons = compare(session, experiment)
        unexplained |= not all(c.explained for c in comparisons)
        if as_json:
            documents.append(document(outcome, comparisons))
        else:
            _print(experiment.name, comparisons, every=claims)
        if plot is not None:
            write_file(plot, picture(outcome))
    if as_json:
        print_json(documents if all_ else documents[0])
    if unexplained:
        raise typer.Exit(1)


def _chosen(name: str | None, all_: bool, plot: Path | None) -> Sequence[str]:
    if all_ and (name is not None or plot is not None):
        raise InputError("--all takes neither a name nor --plot", mend="name one experiment, or give --all alone")
    if not all_ and name is None:
        raise InputError(
            "no experiment is named", mend=f"name one of {', '.join(experiment_names())}, or give --all"
        )
    return experiment_names() if name is None else (name,)


def _print(name: str, comparisons: Sequence[Comparison], *, every: bool) -> None:
    held = sum(c.holds for c in comparisons)
    out.print(Text.assemble((name, "bold"), f"  {held} of {len(comparisons)} claims hold"))
    shown = [c for c in comparisons if every or not c.holds]
    if not shown:
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("claim", "kind", "published", "obtained", "", "reason"):
        table.add_column(heading, overflow="fold")
    for c in shown:
        text = ("holds", "green") if c.holds else ("explained", "yellow") if c.explained else ("fails", "red")
        row = c.document()
        table.add_row(
            c.claim.id, c.claim.kind.value, _short(row["published"]), _short(row["obtained"]), Text(*text), c.reason
        )
    out.print(table)


def _short(value: Any) -> str:
    """A number to five digits; of an order or ratio what matters of it."""
    match value:
        case None:
            return "—"
        case bool() | str():
            return str(value)
        case int() | float():
            return f"{value:.5g}"
        case list():
            return " → ".join(_short(one) for one in value)
        case {"ascending": steps}:
            return f"order of {len(steps)}"
        case {"is": number, "relation": relation}:
            return f"ratio {relation} {number:g}"
        case dict():
            return ", ".join(f"{key}: {_short(one)}" for key, one in value.items())
    return str(value)
