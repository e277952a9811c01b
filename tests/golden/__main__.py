"""Write the expected configurations and findings anew: ``python -m tests.golden`` in the checkout."""

from tests.compiler.goldens import regenerate

regenerate()
