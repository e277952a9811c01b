"""The run record: tables and the store of runs, with stages, events, journal, leases and decisions."""
