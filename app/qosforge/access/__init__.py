"""Who may do what: users, roles per network, tokens, web sessions, external testers, and the audit log."""
