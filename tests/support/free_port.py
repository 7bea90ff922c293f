#!/usr/bin/env python3
"""Prints a port that nobody listens on, below those that the kernel gives to connections: a launcher's own may
get one of these between this and its use."""
import random
import socket

while True:
    port = random.randrange(15000, 32000)
    with socket.socket() as listener:
        try:
            listener.bind(("", port))
        except OSError:
            continue
    print(port)
    break
