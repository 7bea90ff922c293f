#!/usr/bin/env python3
"""Prints a port that no process listens on or gets by chance: it is below those that the kernel assigns to
connections, such as a launcher's own, and those that hpcboot derives from a job ID."""
import random
import socket

while True:
    port = random.randrange(10000, 20000)
    with socket.socket() as listener:
        try:
            listener.bind(("", port))
        except OSError:
            continue
    print(port)
    break
