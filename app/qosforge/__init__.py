"""qosforge: one vendor-neutral QoS intent, compiled, pushed, measured and kept or rolled back."""
