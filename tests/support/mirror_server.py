"""Usage: mirror_server.py FOLDER LOG [--cut BYTES] [--no-ranges] [--stall] [--hold FILE]

Serves the files of FOLDER on a free port of 127.0.0.1, whose number is the first line of LOG; each
request adds a line "PATH RANGE". With --cut the connection is closed after this many bytes of a body, with
--no-ranges a Range is ignored, with --stall the server never responds, with --hold it sends half of a body until
FILE exists.
"""

import argparse
import http.server
import pathlib
import re
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("log")
parser.add_argument("--cut", type=int)
parser.add_argument("--no-ranges", action="store_true")
parser.add_argument("--stall", action="store_true")
parser.add_argument("--hold", type=pathlib.Path)
options = parser.parse_args()
log = open(options.log, "w", buffering=1)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = self.headers.get("Range", "-")
        log.write(f"{self.path} {asked}\n")
        if options.stall:
            time.sleep(60)
        file = options.folder / self.path.lstrip("/")
        if not file.is_file():
            self.send_error(404)
            return
        body = file.read_bytes()
        total = len(body)
        begin = re.fullmatch(r"bytes=(\d+)-", asked)
        if begin and not options.no_ranges:
            start = int(begin[1])
            if start >= total:
                self.send_error(416)
                return
            body = body[start:]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        body = body[:options.cut]
        half = len(body) // 2
        self.wfile.write(body[:half])
        while options.hold and not options.hold.exists():
            time.sleep(0.05)
        self.wfile.write(body[half:])

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
log.write(f"{server.server_port}\n")
server.serve_forever()
