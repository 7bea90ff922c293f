"""Usage: read_profiles.py FOLDER: prints what TensorBoard's plugin for profiles reads in it, a line per worker."""
import os
import sys

from torch_tb_profiler.io import Cache
from torch_tb_profiler.profiler import RunLoader


def main():
    run = RunLoader("run", os.path.abspath(sys.argv[1]), Cache()).load()
    for profile in run.profiles.values():
        views = [view.name for view in profile.views]
        if "overall" in views:
            print(f"{profile.worker}: steps", *(row[0] for row in profile.overview["steps"]["rows"]))
        else:
            print(f"{profile.worker}:", *views)


if __name__ == "__main__":
    main()
