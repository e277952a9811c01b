"""Who may do what: users, roles per network, tokens, web sessions, outside testers, and the log of every call."""
