"""Write the expected configurations of the routers anew: ``python -m tests.golden`` in the checkout."""

from tests.compiler.goldens import regenerate

regenerate()
