"""What a Batfish service says of a compilation: snapshots before and after the change, questions, findings."""
