"""What is shown of a run: its summary, report, progress and artifacts."""
