#!/usr/bin/env python3
"""usage: stranger.py COUNTS FIRST_PORT LAST_PORT ADDRESS ...

Bothers whoever listens on these ports, until it is killed: as soon as somebody does, it stops the stages (of both hosts: they share
their process ids), so that they find all of it at once, scans the port, sends garbage and wrong greetings, and leaves 64 connections
silent. The file COUNTS has how many connections it has got of each kind, and the most that were silent at once.
"""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

SILENT = 64
counts = {"scanned": 0, "garbage": 0, "silent": 0, "silent_at_once": 0}


def frame(version=3, kind=3):
    """A header of lib/paretopipe/wire/README.md with 32 random bytes: a challenge, unless it is of another kind."""
    return struct.pack("<4sHHQQIBBBB32s", b"PPIP", version, kind, 0, 0, 0, 0, 0, 0, 0, os.urandom(32))


GARBAGE = [
    lambda: os.urandom(4096),
    lambda: b"GET / HTTP/1.1\r\nHost: pi\r\n\r\n",
    lambda: frame(version=2),
    lambda: frame(kind=4),
    lambda: frame() + frame(kind=4),  # a challenge, and a proof without the key
    lambda: frame() + frame(kind=1),
    lambda: frame()[:40],
]


def connect(target):
    stranger = socket.socket()
    stranger.settimeout(0.05)
    try:
        stranger.connect(target)
    except OSError:
        stranger.close()
        return None
    return stranger


def send_and_close(stranger, text):
    try:
        stranger.sendall(text)
    except OSError:
        pass  # it has been turned away already
    stranger.close()


def is_open(stranger):
    try:
        return stranger.recv(1, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def signal_stages(number):
    for pid in subprocess.run(["pgrep", "-f", "fake-stage serve$"], capture_output=True, text=True).stdout.split():
        try:
            os.kill(int(pid), number)
        except ProcessLookupError:
            pass


def bother(target, first):
    """Everything at once; returns the silent connections. `first` is the connection that found the port open."""
    silent = [first]
    while len(silent) < SILENT:
        stranger = connect(target)
        if stranger is None:
            break
        silent.append(stranger)
    for text in random.sample(GARBAGE, len(GARBAGE)):
        stranger = connect(target)
        if stranger is not None:
            counts["garbage"] += 1
            send_and_close(stranger, text())
    for _ in range(10):
        stranger = connect(target)
        if stranger is not None:
            counts["scanned"] += 1
            stranger.close()
    counts["silent"] += len(silent)
    counts["silent_at_once"] = max(counts["silent_at_once"], len(silent))
    return silent


def write_counts(file):
    with open(file + ".new", "w") as new:
        json.dump(counts, new)
    os.replace(file + ".new", file)


def main(file, first, last, *addresses):
    targets = [(address, port) for address in addresses for port in range(int(first), int(last) + 1)]
    silent = []
    write_counts(file)
    while True:
        for target in targets:
            found = connect(target)
            if found is None:
                continue
            signal_stages(signal.SIGSTOP)
            try:
                silent += bother(target, found)
            finally:
                signal_stages(signal.SIGCONT)
            write_counts(file)
        silent = [stranger for stranger in silent if is_open(stranger)]
        time.sleep(0.001)


main(*sys.argv[1:])
