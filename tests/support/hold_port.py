#!/usr/bin/env python3
"""Usage: hold_port.py PORT

Listens on PORT of all addresses until it is ended, like another program on this host, and prints "ready" once it
listens. A recently closed connection (TIME_WAIT) does not prevent it from binding the port.
"""
import socket
import sys
import time

holder = socket.socket(socket.AF_INET6)
holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
holder.bind(("", int(sys.argv[1])))
holder.listen()
print("ready", flush=True)
time.sleep(600)
