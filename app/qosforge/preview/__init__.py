"""What a policy would become on a network: compiled and validated, before anything is pushed."""
