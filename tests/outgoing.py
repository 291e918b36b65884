"""A record of every name that a process and its children look up, and every connection that they open, beyond loopback.

Python's own are seen by an audit hook. Those of compiled libraries are seen where a C compiler is at hand, by a library
that stands before libc.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_AUDIT = """
import ipaddress, os, socket, sys

def beyond(host):
    if host in (None, "", b"", "localhost", b"localhost", "0.0.0.0", "::"):
        return False
    try:
        return not ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return True

def hook(event, given):
    host = None
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = given[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(given[1], tuple):
        host = given[1][0]
    if beyond(host):
        with open(LOG, "a") as log:
            log.write(f"{os.path.basename(sys.argv[0] if hasattr(sys, 'argv') else '')}: {event} {host}\\n")
        raise OSError(f"{event} {host} goes beyond loopback")

sys.addaudithook(hook)
"""

_SHIM = """
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void note(const char *what, const char *host) {
    FILE *log = fopen(LOG, "a");
    if (log) { fprintf(log, "native: %s %s\\n", what, host); fclose(log); }
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real) real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (host && strcmp(host, "localhost") && strncmp(host, "127.", 4) && strcmp(host, "::1") && strcmp(host, "0.0.0.0")
        && strcmp(host, "::")) { note("getaddrinfo", host); return EAI_NONAME; }
    return real(host, service, hints, found);
}

int connect(int fd, const struct sockaddr *to, socklen_t size) {
    static int (*real)(int, const struct sockaddr *, socklen_t);
    char host[64] = "";
    if (!real) real = dlsym(RTLD_NEXT, "connect");
    if (to->sa_family == AF_INET) inet_ntop(AF_INET, &((struct sockaddr_in *)to)->sin_addr, host, sizeof host);
    if (to->sa_family == AF_INET6) inet_ntop(AF_INET6, &((struct sockaddr_in6 *)to)->sin6_addr, host, sizeof host);
    if (*host && strncmp(host, "127.", 4) && strcmp(host, "::1") && strncmp(host, "::ffff:127.", 11)) {
        note("connect", host); errno = ECONNREFUSED; return -1;
    }
    return real(fd, to, size);
}
"""


@dataclass(frozen=True)
class Watch:
    """``environment`` is what a process to be watched is started with, ``user`` its home folder."""

    environment: dict[str, str]
    user: Path
    log: Path

    def beyond(self) -> list[str]:
        """What was looked up or connected to beyond loopback."""
        return self.log.read_text().splitlines()

    def left(self) -> list[str]:
        """Files that were left outside the library's own home."""
        return sorted(path.relative_to(self.user).as_posix() for path in self.user.rglob("*") if path.is_file())


def watch(folder: Path) -> Watch:
    """A watch that keeps what it needs in ``folder``."""
    user, log = folder / "user", folder / "outgoing.log"
    user.mkdir(parents=True)
    log.touch()
    (folder / "sitecustomize.py").write_text(f"LOG = {str(log)!r}\n{_AUDIT}")
    environment = {"PYTHONPATH": str(folder), "HOME": str(user), "XDG_CACHE_HOME": str(user / ".cache")}
    compiler = shutil.which("cc")
    if compiler and sys.platform == "linux":
        source, library = folder / "shim.c", folder / "shim.so"
        source.write_text(f'#define LOG "{log}"\n{_SHIM}')
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        environment["LD_PRELOAD"] = os.pathsep.join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))
    return Watch(environment, user, log)
