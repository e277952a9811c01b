"""STAMP, the Simple Two-way Active Measurement Protocol (RFC 8762), and TWAMP Light: sender and reflector."""
