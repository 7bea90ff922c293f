#!/usr/bin/python3
"""Meets the other ranks at MASTER_ADDR and MASTER_PORT, as c10d's store does: rank 0 listens on all addresses,
and all ranks connect, including rank 0. Each rank prints one line: its rank, the address of rank 0 that it
reached, and how many ranks arrived. Fails within 20 s."""

import os
import socket
import threading
import time

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
end = time.monotonic() + 20


def serve(server):
    guests = [server.accept()[0] for _ in range(size)]
    for guest in guests:
        guest.sendall(b"%d" % size)
        guest.close()


def reach():
    while True:
        try:
            return socket.create_connection((host, port), timeout=5)
        except OSError as error:
            if time.monotonic() > end:
                raise SystemExit(f"rank {rank}: {host} port {port}: {error}")
            time.sleep(0.05)


server_thread = None
if rank == 0:
    listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=size)
    server_thread = threading.Thread(target=serve, args=(listener,), daemon=True)
    server_thread.start()
with reach() as connection:
    connection.settimeout(max(1, end - time.monotonic()))
    place, count = connection.getpeername()[0], int(connection.recv(16))
os.write(1, f"{rank} {place.removeprefix('::ffff:')} {count}\n".encode())
if server_thread:
    server_thread.join()  # the others have their answers
