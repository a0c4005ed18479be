"""Hands arguments, environment, folder and streams to the process of `server.py`: a call of `slipway`."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    call = {"words": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109 - quick
    data = json.dumps(call).encode()
    line.sendall(data[socket.send_fds(line, [data], [0, 1, 2]) :])
    line.shutdown(socket.SHUT_WR)
    sys.exit(int(line.recv(16) or b"1"))
