"""The durable run: its record, its artifacts, its locks and the engine that carries it."""
