"""What devices are known to hold: the last known configuration, drift, and the QoS of ports."""
