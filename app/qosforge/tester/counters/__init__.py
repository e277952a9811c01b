"""The passive tester: the counters of devices against the offered load."""
