"""The lab: emulated boxes that speak real SSH on loopback, in a process of their own."""
