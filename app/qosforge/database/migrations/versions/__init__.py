"""One module per revision, oldest first by name."""
