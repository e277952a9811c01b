"""One module per noun, each with a ``router``; `qosforge.api.application` lists them."""
