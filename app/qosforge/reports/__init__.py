"""Reports of runs and policy checks, for people and pipelines."""
