"""The durable steps of a run attempt. Each reads before it touches, and returns plain JSON."""
