"""The workflow of a run: one attempt at it, from reading the devices to keeping or rolling back."""
