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

def cheapest_groups(
    demands: list[tuple[tuple[float, ...], bool, list[int], list[int]]],
    most: int,
    preference: list[tuple[str, float]],
    most_steps: int,
) -> list[list[int]]:
    """The grouping of demands into at most `most` queues that the criteria prefer, the first of them most.

    A demand is its shares of the link (parts, one for each rate), whether it should be alone, its kinds (numbers
    from 0 to 255) and its labels. A criterion is a name and a bound: `alone`, `unrelated`, `misplaced`, `parted`,
    `kinds`, `merged`, `error`, `error-above` (its bound, a part of the link), or, as the last one, `errors`. Groups
    are ascending places of demands. The search ends after `most_steps` with the best so far; it is soon over where
    large demands come first.

    Raises:
        ValueError: more than 256 demands, none of a rate, no queue, a criterion that there is not, or no criterion.
    """

def pairwise_groups(
    demands: list[tuple[tuple[float, ...], bool, list[int], list[int]]],
    most: int,
    preference: list[tuple[str, float]],
) -> list[list[int]]:
    """As `cheapest_groups`, by joining, again and again, the two queues that make the preferred one."""

def nearest_apart(units: list[list[float]], weights: list[int], left: float) -> tuple[float, list[int]]:
    """The least largest error (part of the link) of units in queues of their own, and the place of each queue.

    A unit is the shares of its classes (parts of the link); queues of these `weights` divide the part `left`.

    Raises:
        ValueError: fewer queues than units, or more than 10.
    """

def nearest_merged(
    units: list[tuple[list[float], bool]], shares: list[float], spare: int, bearable: float
) -> tuple[float, list[int]]:
    """As `nearest_apart`, where units share queues that have these `shares` of the link and all serve.

    A unit says, too, whether it has a label; `spare` queues may serve units alone that have none. The error is
    infinite where every way has one above `bearable`.

    Raises:
        ValueError: more than 16 units.
    """

def whole_numbers(exact: list[float], total: int) -> list[int]:
    """Whole numbers of at least 1 with the sum `total` that come nearest to `exact` ones with the same sum.

    What is left goes where it brings most, of places alike to the first ones. `total` is at least the number of
    places: else the numbers are all 1.
    """

def nearest_whole(
    targets: list[tuple[float, ...]], shares: tuple[float, ...], first: int, last: int, highest: int
) -> list[int]:
    """The `whole_numbers` of `shares` whose largest error of a share, against all `targets`, is smallest.

    Their sums are tried from `first` to `last`, upwards or downwards; the first of those alike is taken. It ends
    before a number above `highest`.
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
