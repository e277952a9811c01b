"""One module per noun, each with a ``router``; `app.api.application` lists them."""
