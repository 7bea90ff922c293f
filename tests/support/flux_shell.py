"""flux_shell.py TASKS COMMAND…: starts tasks as `flux run` does, each with a PMI-1 server (Flux RFC 13) in PMI_FD.

Behaves as observed with flux-core 0.88: a request on a task's PMI_FD after the task has ended cannot be answered
any more, and ends the job ("PMI-1 wire protocol error") with exit code 1. Otherwise the exit code is a task's own.
"""
import os
import re
import socket
import subprocess
import sys
import threading

size, command = int(sys.argv[1]), sys.argv[2:]
keys = {"PMI_process_mapping": "(vector,(0,%d,1))" % size}
barrier = threading.Barrier(size)
faults = []


def answer(line):
    word = dict(re.findall(r"(\w+)=(\S*)", line))
    if word["cmd"] == "init":
        return "response_to_init rc=0 pmi_version=1 pmi_subversion=1"
    if word["cmd"] == "get_maxes":
        return "maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024"
    if word["cmd"] == "get_my_kvsname":
        return "my_kvsname rc=0 kvsname=fAbCd"
    if word["cmd"] == "put":
        keys[word["key"]] = word["value"]
        return "put_result rc=0"
    if word["cmd"] == "get":
        found = keys.get(word["key"])
        return "get_result rc=" + ("-1" if found is None else "0 value=" + found)
    if word["cmd"] == "barrier_in":
        barrier.wait(30)
        return "barrier_out rc=0"
    return "finalize_ack rc=0" if word["cmd"] == "finalize" else "unknown"


def serve(rank):
    ours, theirs = socket.socketpair()
    variables = {"FLUX_JOB_ID": "fAbCd", "FLUX_JOB_SIZE": str(size), "FLUX_JOB_NNODES": str(size),
                 "FLUX_TASK_RANK": str(rank), "FLUX_TASK_LOCAL_ID": "0",
                 "PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    task = subprocess.Popen(command, env={**os.environ, **variables}, pass_fds=[theirs.fileno()])
    theirs.close()
    for line in ours.makefile("r"):
        # An exiting process closes its descriptors before it can be waited for.
        if line == "cmd=finalize\n" and is_ending(task):
            faults.append("task %d is over, and its PMI_FD says %s" % (rank, line.strip()))
            break
        ours.sendall(("cmd=" + answer(line) + "\n").encode())
    ours.close()
    if task.wait() != 0:
        faults.append("task %d: exit code %d" % (rank, task.returncode))


def is_ending(task):
    try:
        task.wait(1)
        return True
    except subprocess.TimeoutExpired:
        return False


tasks = [threading.Thread(target=serve, args=(rank,)) for rank in range(size)]
for thread in tasks:
    thread.start()
for thread in tasks:
    thread.join()
sys.exit("\n".join(faults) if faults else 0)
