"""What pages show, put together from what the parts below know."""
