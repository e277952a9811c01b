"""Webhooks: events of the service, signed and posted to the hosts that the installation allows."""
