class ScenarioError(ValueError):
    """A scenario that cannot be simulated: where it is wrong and how to mend it."""

    path: str
    problem: str
    mend: str

def run(scenario: str, seed: int) -> str:
    """Simulate a version 1 scenario (JSON) and return the result (JSON).

    Times are integer picoseconds, rates bits per second. The same scenario and
    seed (0 to 2**64 - 1) give the same bytes. The interpreter lock is released
    while it runs; Ctrl-C ends it with KeyboardInterrupt.

    Raises:
        ScenarioError: the scenario is wrong; its text names the JSON path and the mend.
        OverflowError: the seed does not fit 64 bits.
    """
