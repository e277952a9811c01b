"""Sources of inventories: what keeps a network's devices, ports and links outside of its folder."""
