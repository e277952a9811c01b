"""What people and pipelines ask of runs: start, approve, reject, cancel, pause, retry, roll back."""
