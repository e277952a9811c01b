"""Linux routers of a lab: real kernels, each in namespaces of its own, behind real OpenSSH servers on loopback."""
