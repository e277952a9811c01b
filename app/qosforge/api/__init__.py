"""The REST interface: thin routes over the functions that the command line uses, too."""
