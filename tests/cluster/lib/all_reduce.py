"""An ordinary program for torch.distributed: nothing in it depends on how it was launched."""

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo", init_method="env://")
value = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(value)
# In one write: launchers may insert lines of other ranks between two writes.
os.write(1, f"{dist.get_rank()} of {dist.get_world_size()}: {value.item():g}\n".encode())
