"""What the computing processes do for requests, one module per subject, and the queues of what takes longer."""
