"""The policy library: stored policies in versions, whose they are, and where they may be run."""
