#!/usr/bin/env python3
"""type_password.py PASSWORD CMD...: runs CMD on its own terminal, and types PASSWORD when CMD asks for it.
Prints CMD's output; the exit code is CMD's."""
import os
import pty
import sys

answer = (sys.argv[1] + "\n").encode()


def read(fd):
    data = os.read(fd, 4096)
    if b"assword:" in data:
        os.write(fd, answer)
    return data


sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[2:], read)))
