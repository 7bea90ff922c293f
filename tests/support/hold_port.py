#!/usr/bin/env python3
"""Usage: hold_port.py PORT

Listens on PORT of all addresses until it is ended, as another program of this host would, and prints "ready" once it
does. A connection that was closed a moment ago (TIME_WAIT) does not keep it from the port.
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
