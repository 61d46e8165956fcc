# SPDX-License-Identifier: Apache-2.0
"""softib's own figures: unmodified perftest between two hosts of one switch, and a program of ours for the costs of control calls."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from .programs import BUILD, SOFTIB, NoFigure, between, next_port

MIB = 1.048576  # perftest's MB/s are MiB/s


class Fabric:
    """A fabric of its own in a runtime directory of its own, up until it is closed."""

    def __init__(self, *flags, target="h1", source="h2", build=BUILD, **variables):
        self.target, self.source, self.build = target, source, build
        self.softib = os.path.join(build, "softib")
        self.runtime = tempfile.mkdtemp(prefix="softib-bench-")
        self.environment = dict(os.environ, SOFTIB_RUNTIME_DIR=self.runtime, **variables)
        subprocess.run([self.softib, "up", *flags], check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def close(self):
        subprocess.run([self.softib, "down"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def softibd(self):
        with open(os.path.join(self.runtime, "default", "pid")) as file:
            return int(file.read())

    def run(self, program, size, count, *extra, unit="-n", **variables):
        """What perftest prints. unit: what count is a number of, messages or seconds (-D)."""
        number = next_port()
        environment = dict(self.environment, **variables)
        command = [program, "-F", unit, str(count), "-p", str(number), *([] if "atomic" in program else ["-s", str(size)]), *extra]
        run = [self.softib, "run", "-H"]
        return between([*run, self.target, "--", *command], [*run, self.source, "--", *command, "127.0.0.1"], number, environment)

    def perftest(self, program, size, *arguments, **variables):
        """The numbers of the row that perftest prints for the size, after #bytes and #iterations."""
        output = self.run(program, size, *arguments, **variables)
        for line in output.splitlines():
            fields = line.split()
            if len(fields) >= 5 and fields[0] == str(size) and fields[1].isdigit():
                return [float(value) for value in fields[2:]]
        raise NoFigure("%s printed no row:\n%s" % (program, output[-600:]))

    def latency(self, program, *arguments, **variables):
        """The median, which perftest calls typical and rounds to 0.01 us, from its list of all (-U); to 0.001, as UCX prints its own."""
        output = self.run(program, *arguments, "-U", **variables)
        values = [float(value) for value in re.findall(r"^\d+, ([\d.e+-]+)$", output, flags=re.MULTILINE)]
        if not values:
            raise NoFigure("%s printed no list:\n%s" % (program, output[-600:]))
        return round(statistics.median(values), 3)

    def bandwidth(self, *arguments, **variables):
        return self.perftest(*arguments, **variables)[1] * MIB

    def rate(self, *arguments, **variables):
        return self.perftest(*arguments, **variables)[2]

    def rate_for(self, program, size, seconds, *extra):
        """The same for some time in place of some messages."""
        return self.rate(program, size, seconds, *extra, unit="-D")

    def number_of(self, program, *arguments):
        """The one number that a measuring program of ours prints on the first host."""
        command = [self.softib, "run", "-H", "h1", "--", os.path.join(self.build, program), *arguments]
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=self.environment).stdout)

    def cost(self, what):
        """Microseconds of a control call."""
        return self.number_of("bench-verbs", what)


def cpu_seconds(process):
    with open("/proc/%d/stat" % process) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_at_rest(seconds=5):
    """Percent of a core that softibd of 1,000 hosts and an attached idle program use together."""
    fabric = Fabric("--hosts", "1000")
    idle = None
    try:
        command = [SOFTIB, "run", "-H", "h1", "--", os.path.join(BUILD, "bench-verbs"), "idle"]
        idle = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=fabric.environment, text=True)
        if idle.stdout.readline() != "attached\n":
            raise NoFigure("the idle program did not attach")
        processes = [fabric.softibd(), idle.pid]
        before = sum(map(cpu_seconds, processes))
        time.sleep(seconds)
        return (sum(map(cpu_seconds, processes)) - before) / seconds * 100
    finally:
        if idle:
            idle.kill()
            idle.wait()
        fabric.close()
