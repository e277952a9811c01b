"""Jobs of the computing processes, one module per subject, and the queues of background jobs."""
