"""Routes of the pages, by what they show."""
