"""The MapReduce jobs, the pipeline that chains them, and the command line."""
