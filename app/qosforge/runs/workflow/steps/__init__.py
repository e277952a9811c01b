"""The durable steps of a run attempt. Each reads before it touches."""
