"""IOS: what routers and switches that run it have in common."""
