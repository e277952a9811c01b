"""Sets of packets by the fields that classes match: exact algebra, and proofs that devices classify as meant."""
