"""What runs inside the sandbox: standard library only, imports nothing of ours, and is all that a program shares a
process with. The host imports `frames` from here, so that both ends spell the protocol alike."""
