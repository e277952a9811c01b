"""Scenarios of the twin: ports, queues, policers and traffic, from plans and inventories."""
