# SPDX-License-Identifier: Apache-2.0
"""Pairs of programs: a server that is waited for until it listens, and a client whose output is the result."""
import os
import signal
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
SOFTIB = os.path.join(BUILD, "softib")
CLIENT_TIMEOUT_S = 90
SERVER_TIMEOUT_S = 60

_port = 12000 + os.getpid() % 18000


class NoFigure(RuntimeError):
    """A program ran but printed no figure."""


def next_port():
    global _port
    _port += 1
    return _port


def listens(number):
    wanted = ":%04X" % number
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name) as table:
            for line in table.readlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
    return False


def between(server, client, number, environment=None):
    """Starts the server, waits until it listens on the TCP port, runs the client; returns the client's output."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(server, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        try:
            while process.poll() is None and not listens(number):
                pass
            output = subprocess.run(client, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=CLIENT_TIMEOUT_S, env=environment).stdout
            process.wait(timeout=SERVER_TIMEOUT_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return output


def number_of(program, *arguments):
    """The one number that a measuring program of ours prints."""
    return float(subprocess.run([os.path.join(BUILD, program), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout)
