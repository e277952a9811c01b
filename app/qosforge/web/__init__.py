"""The pages for people: server-rendered, one more thin face over the same functions."""
