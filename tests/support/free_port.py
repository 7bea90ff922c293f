#!/usr/bin/env python3
"""Prints a port that nobody listens on, and that nobody is given by chance: it lies below those that the kernel gives
to connections, a launcher's own among them, and those that hpcboot derives from a job's id."""
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
