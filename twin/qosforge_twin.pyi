class ScenarioError(ValueError):
    """A scenario that cannot be simulated: where it is wrong and how to mend it."""

    path: str
    problem: str
    hint: str
    case: int | None
    """Which of many, counted from 0; None from `run`."""

def run(scenario: str, seed: int) -> str:
    """Simulate a version 1 scenario (JSON) and return the result (JSON).

    Times are integer picoseconds, rates bits per second. The same scenario and
    seed (0 to 2**64 - 1) give the same bytes. The interpreter lock is released
    while it runs; Ctrl-C ends it with KeyboardInterrupt.

    Raises:
        ScenarioError: the scenario is wrong; its text names the JSON path and the hint.
        OverflowError: the seed does not fit 64 bits.
    """

def schema() -> str:
    """The JSON Schema of scenarios and of results, in the members `scenario` and `result` of an object (JSON)."""

def run_many(scenarios: list[str], seeds: list[int], threads: int | None = None) -> list[str]:
    """Simulate independent scenarios at the same time; results in the order of the scenarios.

    Each has its own seed, and its result has the bytes that `run` gives. `threads` are used at
    a time (None: one per core); the interpreter lock is released, Ctrl-C ends all.

    Raises:
        ScenarioError: scenarios are wrong; the first of them is told, with its `case`.
        ValueError: there are not as many seeds as scenarios, or `threads` is 0.
        OverflowError: a seed does not fit 64 bits.
    """
