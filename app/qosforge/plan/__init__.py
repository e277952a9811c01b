"""Plans: what is requested of a device, what it is to do in its own numbers, and the fluid model of that."""
