"""The process side of runs: an executor with its engine and its periodic work, and runs carried out locally."""
