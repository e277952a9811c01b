"""What running says of data that lack something."""

from __future__ import annotations

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments import ExperimentSession, load_experiment


@pytest.mark.parametrize("name", ["torino-table1", "aircraft-mixed"])
def test_a_figure_that_the_data_lack_is_named_with_its_experiment(name: str) -> None:
    bare = load_experiment(name).model_copy(update={"setup": {}})
    with pytest.raises(ServiceError, match=f"experiment {name}: its data have no '"):
        ExperimentSession(1)._run(bare)
