"""Reports: what a run did and what came of it, for people."""
