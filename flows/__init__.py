"""What a person or a schedule starts: one file a flow, and the command line."""
