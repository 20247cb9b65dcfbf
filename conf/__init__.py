"""The mrjob configurations that are installed with the program, one an engine."""
