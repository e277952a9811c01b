"""The workflow engine: its port, DBOS behind it, the dispatcher, and the leases of executors."""
