"""Testers that speak Open Traffic Generator, through its client snappi (`pip install 'qosforge[otg]'`)."""
