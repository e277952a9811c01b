"""The command line: a thin face over the same functions as REST and the web form."""
