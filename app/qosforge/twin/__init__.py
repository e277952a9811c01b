"""The twin's language: typed scenarios, typed results, and running one into the other."""
