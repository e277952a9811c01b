"""Scripts of others that pages load, each bundled from the file of its name in ``src``."""
