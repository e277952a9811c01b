"""The tester ``probes``: MGEN, iperf3 and irtt on the hosts behind a network's stations."""
