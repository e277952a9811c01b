"""What a request passes before its route: request id, limits, text, errors, the audit log and the role check."""
