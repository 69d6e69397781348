#!/usr/bin/env python3
"""Speaks the channel protocol with a queue manager: puts, commits, gets, backs out, inquires, and disconnects in order.

    python3 speak_channel.py [--little] [--unshared] [--user USER] HOST PORT CHANNEL QMGR QUEUE TEXT...

Puts every TEXT as a persistent message under syncpoint and commits; gets them under syncpoint and backs that out; gets
them again, prints them and commits. Before and after the gets it prints the depth of the queue, which it inquires on a
conversation of its own if the socket is shared. Other messages on the queue stay. Exit status 0: all of it went well;
1: something did not, and standard error says what, with the reason code.

Written from channel-protocol.md, in its order and with its words, to show that the page suffices; it shares nothing with
the queue manager, so that each can be tested by the other.
"""

import argparse
import getpass
import os
import socket
import struct
import sys
from typing import Dict, List, NamedTuple, NoReturn, Tuple

INITIAL_DATA, STATUS_DATA, USERID_DATA, HEARTBEAT, CONAUTH_INFO, SOCKET_ACTION = 0x01, 0x05, 0x08, 0x09, 0x0A, 0x0C
MQCONN, MQDISC, MQOPEN, MQCLOSE, MQGET, MQPUT, MQINQ, MQCMIT, MQBACK = (
    0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x89, 0x8A, 0x8B)
VERBS = {MQCONN: "MQCONN", MQDISC: "MQDISC", MQOPEN: "MQOPEN", MQCLOSE: "MQCLOSE", MQGET: "MQGET", MQPUT: "MQPUT",
         MQINQ: "MQINQ", MQCMIT: "MQCMIT", MQBACK: "MQBACK"}
REPLY = 0x10  # What a reply's type has more than its request's.
CONFIRM, ERROR, CLOSE, FIRST, LAST = 0x01, 0x02, 0x08, 0x10, 0x20
START, END = 1, 2

# Structures without their byte order. INITIAL_DATA up to 128 and from there to 208.
INITIAL = "4sBBBB2xHIII20sBBH48sIHBx2s16s2xI"
INITIAL_MORE = "IB3xIII12s48s"
LONGEST_SEGMENT, LONGEST_MESSAGE, INTERVAL = 0x04, 0x10, 0x80  # Bits for disputed fields, first group.
MQOD = "4sii48s48s48s12s"
MQMD = "4s7i8sii24s24si48s48s12s32s32si28s8s8s4s"
MQPMO = "4s7i48s48s"
MQGMO = "4s5i48s"
MQOO_INPUT_AS_Q_DEF, MQOO_OUTPUT, MQOO_INQUIRE, MQOO_FAIL_IF_QUIESCING = 0x1, 0x10, 0x20, 0x2000
SYNCPOINT, NEW_MSG_ID, FAIL_IF_QUIESCING = 0x2, 0x40, 0x2000
MQIA_CURRENT_Q_DEPTH, MQAT_UNIX = 3, 6

STATUS = {1: "no channel of that name", 2: "the channel is of another type", 3: "the queue manager does not work any more",
          5: "the queue manager ends", 7: "the channel was stopped", 8: "no verb for the disconnect interval",
          10: "the protocol was broken", 22: "the channel is not available", 23: "the channel has an exit",
          24: "the channel wants TLS"}
REASONS = {2016: "MQRC_GET_INHIBITED", 2019: "MQRC_HOBJ_ERROR", 2030: "MQRC_MSG_TOO_BIG_FOR_Q",
           2033: "MQRC_NO_MSG_AVAILABLE", 2035: "MQRC_NOT_AUTHORIZED", 2051: "MQRC_PUT_INHIBITED", 2053: "MQRC_Q_FULL",
           2058: "MQRC_Q_MGR_NAME_ERROR", 2059: "MQRC_Q_MGR_NOT_AVAILABLE", 2085: "MQRC_UNKNOWN_OBJECT_NAME",
           2161: "MQRC_Q_MGR_QUIESCING", 2202: "MQRC_CONNECTION_QUIESCING"}


class Failed(Exception):
    """What went wrong, in words and with its code."""


def require(condition: bool, what: str) -> None:
    """The other side keeps to the protocol, or this program ends."""
    if not condition:
        raise Failed(f"the queue manager broke the protocol: {what}")


def text(value: str, length: int) -> bytes:
    """A text of a fixed length."""
    raw = value.encode()
    if len(raw) > length:
        raise Failed(f"{value!r} is longer than {length} bytes")
    return raw.ljust(length)


def plain(raw: bytes) -> str:
    """What a text of a fixed length says."""
    return raw.rstrip(b" \0").decode("utf-8", "backslashreplace")


class Segment(NamedTuple):
    """A segment's header as far as it matters, and its body."""
    conversation: int
    order: str
    kind: int
    flags: int
    body: bytes


class Message(NamedTuple):
    """What MQGET gave."""
    backouts: int
    persistent: bool
    data: bytes


class Socket:
    """One connection over TCP: segments, flows, and what concerns the whole of it."""

    def __init__(self, host: str, port: int, order: str) -> None:
        self.stream = socket.create_connection((host, port), timeout=60)
        self.order = order  # "<" or ">", of all that is sent from here.
        self.shared = False  # Until INITIAL_DATA is accepted.
        self.longest_segment, self.longest_message, self.level, self.conversations = 4_096, 0, 0, 0
        self.unfinished: Dict[Tuple[int, int], List[bytes]] = {}

    def pack(self, layout: str, *values: object) -> bytes:
        """Numbers and texts in the order of bytes that was chosen."""
        return struct.pack(self.order + layout, *values)

    def send(self, kind: int, body: bytes, conversation: int = 0, flags: int = 0) -> None:
        """A flow, in as many segments as it takes. Conversation 0: it concerns the whole socket."""
        eye = b"TSH " if not self.shared else b"TSHM" if conversation else b"TSHC"
        ids = struct.pack(">II", conversation, 0) if eye == b"TSHM" else b""
        room = self.longest_segment - 28 - len(ids)
        parts = [body[at:at + room] for at in range(0, len(body), room)] or [b""]
        for index, part in enumerate(parts):
            place = (FIRST if index == 0 else 0) | (LAST if index == len(parts) - 1 else 0)
            tail = self.pack("BBBB8sIHH", 2 if self.order == "<" else 1, kind, flags | place, 0, bytes(8),
                             0x222 if self.order == "<" else 0x111, 1208, 0)
            length = 8 + len(ids) + len(tail) + len(part)
            self.stream.sendall(eye + struct.pack(">I", length) + ids + tail + part)

    def read(self, length: int) -> bytes:
        """So many bytes."""
        raw = b""
        while len(raw) < length:
            more = self.stream.recv(length - len(raw))
            if not more:
                raise Failed("the queue manager closed the connection")
            raw += more
        return raw

    def segment(self) -> Segment:
        """The next segment, whatever it is."""
        eye, length = struct.unpack(">4sI", self.read(8))
        require(eye in (b"TSH ", b"TSHC", b"TSHM"), f"{eye!r} is no segment")
        rest = self.read(length - 8)
        conversation = 0
        if eye == b"TSHM":
            conversation, rest = struct.unpack_from(">I", rest)[0], rest[8:]
        require(len(rest) >= 20 and rest[0] in (1, 2), "a header that is none")
        return Segment(conversation, "<" if rest[0] == 2 else ">", rest[1], rest[2], rest[20:])

    def ended(self, segment: Segment) -> NoReturn:
        """STATUS_DATA with the flag "error"."""
        _, code = struct.unpack_from(segment.order + "II", segment.body) if segment.body else (0, 0)
        raise Failed(f"the channel ended with status {code}: {STATUS.get(code, 'not known')}")

    def flow(self, conversation: int, kind: int) -> Segment:
        """The next whole flow of a conversation, put together; heartbeats are answered meanwhile."""
        while True:
            segment = self.segment()
            if segment.kind == HEARTBEAT:
                if segment.flags & CONFIRM:
                    self.send(HEARTBEAT, b"")
                continue
            if segment.kind == STATUS_DATA and segment.flags & (ERROR | CLOSE):
                self.ended(segment)
            key = segment.conversation, segment.kind
            require((key in self.unfinished) != bool(segment.flags & FIRST), "a flow that is not one")
            self.unfinished.setdefault(key, []).append(segment.body)
            if segment.flags & LAST:
                body = b"".join(self.unfinished.pop(key))
                expected = (conversation if self.shared else 0, kind)
                require(key == expected, f"type {segment.kind:#x} came where {kind:#x} was awaited")
                return segment._replace(body=body)

    def negotiate(self, channel: str, queue_manager: str, conversations: int) -> None:
        """INITIAL_DATA: once, or twice if the answer disputes something."""
        self.longest_segment, self.longest_message, interval = 65_536, 104_857_600, 1
        for attempt in (1, 2):
            fields = (b"ID  ", 12, 0x26, 0, 0, 0, self.longest_segment, self.longest_message, 0, text(channel, 20), 0x51, 0,
                      1208, text(queue_manager, 48), interval, 106, 0, b"\0\xff", b"\0".ljust(16, b"\xff"), 0)
            more = (conversations, 0x28, os.getpid(), 0, 0, b"MQXX00000000", text("", 48))
            self.send(INITIAL_DATA, self.pack(INITIAL, *fields) + self.pack(INITIAL_MORE, *more))
            answer = self.segment()
            if answer.kind == STATUS_DATA:
                self.ended(answer)
            require(answer.kind == INITIAL_DATA and answer.body[:4] == b"ID  ", "no INITIAL_DATA")
            found = struct.unpack_from(answer.order + INITIAL, answer.body)
            if not answer.flags & ERROR:
                self.level = found[1]
                self.conversations = struct.unpack_from(answer.order + "I", answer.body, 128)[0]
                self.shared = self.level >= 9 and self.conversations > 0
                return
            disputed = found[4]
            require(attempt == 1 and not disputed & ~(LONGEST_SEGMENT | LONGEST_MESSAGE | INTERVAL) and not found[16],
                    f"fields that cannot be disputed are: {disputed:#x}, {found[16]:#x}")
            self.longest_segment = found[6] if disputed & LONGEST_SEGMENT else self.longest_segment
            self.longest_message = found[7] if disputed & LONGEST_MESSAGE else self.longest_message
            interval = found[14] if disputed & INTERVAL else interval

    def action(self, conversation: int, action: int, flags: int = 0) -> None:
        """SOCKET_ACTION: a conversation begins or ends."""
        self.send(SOCKET_ACTION, self.pack("IIIII", conversation, 0, action, 0, 0), flags=flags)


class Conversation:
    """One connection to the queue manager, with a unit of work and handles of its own."""

    def __init__(self, shared_socket: Socket, number: int) -> None:
        self.socket, self.number = shared_socket, number

    def call(self, verb: int, handle: int = 0, body: bytes = b"") -> Tuple[int, bytes, str]:
        """A verb and its reply: the handle, what follows the API header, and its byte order."""
        header = struct.pack(">I", 16 + len(body)) + self.socket.pack("iii", 0, 0, handle)
        self.socket.send(verb, header + body, self.number)
        reply = self.socket.flow(self.number, verb + REPLY)
        require(len(reply.body) >= 16, "a reply without its API header")
        (length,), codes = struct.unpack_from(">I", reply.body), struct.unpack_from(reply.order + "iii", reply.body, 4)
        require(16 <= length <= len(reply.body) < length + 4, "a reply of another length than it says")
        require(not any(reply.body[length:]), "something else than zeros behind a reply")
        completion, reason, handle = codes
        if completion != 0:
            name = f" ({REASONS[reason]})" if reason in REASONS else ""
            raise Failed(f"{VERBS[verb]} gave completion code {completion}, reason {reason}{name}")
        return handle, reply.body[16:length], reply.order

    def authenticate(self, user: str, password: str) -> None:
        """CONAUTH_INFO, which is answered with a status."""
        name, secret = user.encode(), password.encode()
        lengths = (len(name), len(secret)) * 2
        self.socket.send(CONAUTH_INFO, self.socket.pack("4sIIIII8x", b"CAUT", 1, *lengths) + name + secret, self.number)
        self.accepted()

    def accepted(self) -> None:
        """Awaits STATUS_DATA with code 0."""
        status = self.socket.flow(self.number, STATUS_DATA)
        _, code = struct.unpack(status.order + "II", status.body)
        require(code == 0, f"status {code} without an error")

    def identify(self, user: str) -> None:
        """USERID_DATA, once on a socket."""
        body = b"UID " + text(user.upper()[:12], 12) + text("", 12) + text(user, 64) + bytes(40)
        self.socket.send(USERID_DATA, body, self.number)

    def connect(self, queue_manager: str) -> str:
        """MQCONN; the queue manager's name."""
        body = text(queue_manager, 48) + text("speak_channel.py", 28) + self.socket.pack("i32xIi", MQAT_UNIX, 1, 0)
        _, found, _ = self.call(MQCONN, body=body + b"FCNO" + self.socket.pack("I", 2).ljust(208, b"\0"))
        return plain(found[:48])

    def open(self, queue: str, options: int) -> int:
        """MQOPEN; the handle."""
        od = self.socket.pack(MQOD, b"OD  ", 1, 1, text(queue, 48), text("", 48), text("", 48), text("", 12))
        handle, _, _ = self.call(MQOPEN, 0, od + self.socket.pack("i", options | MQOO_FAIL_IF_QUIESCING))
        return handle

    def close(self, handle: int) -> None:
        """MQCLOSE."""
        handle, _, _ = self.call(MQCLOSE, handle, self.socket.pack("i", 0))
        require(handle == -1, "a closed handle that could be used")

    def descriptor(self, msg_id: bytes) -> bytes:
        """MQMD version 1 of a persistent message of text."""
        blank = text("", 48)
        return self.socket.pack(MQMD, b"MD  ", 1, 0, 8, -1, 0, 273, 1208, b"MQSTR   ", -1, 1, msg_id, bytes(24), 0, blank,
                                blank, blank[:12], bytes(32), blank[:32], 0, blank[:28], blank[:8], blank[:8], blank[:4])

    def put(self, handle: int, data: bytes) -> bytes:
        """MQPUT under syncpoint; the MsgId."""
        blank = text("", 48)
        pmo = self.socket.pack(MQPMO, b"PMO ", 1, SYNCPOINT | NEW_MSG_ID | FAIL_IF_QUIESCING, -1, 0, 0, 0, 0, blank, blank)
        body = self.descriptor(bytes(24)) + pmo + self.socket.pack("I", len(data)) + data
        _, reply, order = self.call(MQPUT, handle, body)
        require(reply[:4] == b"MD  " and reply[324:328] == b"PMO ", "a reply to MQPUT without its structures")
        require(struct.unpack_from(order + "I", reply, 452)[0] == len(data), "another length of the message")
        return reply[48:72]

    def get(self, handle: int, msg_id: bytes) -> Message:
        """MQGET under syncpoint of the message with that MsgId."""
        gmo = self.socket.pack(MQGMO, b"GMO ", 1, SYNCPOINT | FAIL_IF_QUIESCING, 0, 0, 0, text("", 48))
        body = self.descriptor(msg_id) + gmo + self.socket.pack("I", self.socket.longest_message)
        _, reply, order = self.call(MQGET, handle, body)
        found = struct.unpack_from(order + MQMD, reply)
        require(found[11] == msg_id and reply[324:328] == b"GMO ", "another message than was asked for")
        (length,), data = struct.unpack_from(order + "I", reply, 396), reply[400:]
        require(length == len(data), f"{len(data)} of {length} bytes without a warning")
        return Message(found[13], found[10] == 1, data)

    def depth(self, handle: int) -> int:
        """MQINQ of CURDEPTH."""
        _, reply, order = self.call(MQINQ, handle, self.socket.pack("IiiI", 1, 1, 0, MQIA_CURRENT_Q_DEPTH))
        selectors, integers, characters, selector, depth = struct.unpack(order + "IiiIi", reply[:20])
        require((selectors, integers, characters, selector) == (1, 1, 0, MQIA_CURRENT_Q_DEPTH), "another inquiry")
        return depth


def work(worker: Conversation, watcher: Conversation, queue: str, texts: List[str]) -> None:
    """Everything between MQCONN and MQDISC. `watcher`: who inquires."""
    handle = worker.open(queue, MQOO_INPUT_AS_Q_DEF | MQOO_OUTPUT)
    watched = watcher.open(queue, MQOO_INQUIRE)
    ids = [worker.put(handle, one.encode()) for one in texts]
    worker.call(MQCMIT)
    print(f"put {len(ids)}, depth {watcher.depth(watched)}")
    for finish in (MQBACK, MQCMIT):
        for msg_id, one in zip(ids, texts):
            message = worker.get(handle, msg_id)
            if message.data != one.encode() or not message.persistent:
                raise Failed(f"message {msg_id.hex()} is not the one that was put")
            print(f"got {one} (backed out {message.backouts} times)")
        worker.call(finish)
    print(f"depth {watcher.depth(watched)}")
    watcher.close(watched)
    worker.close(handle)


def run(arguments: argparse.Namespace) -> None:
    """The connection from beginning to end."""
    channel = Socket(arguments.host, arguments.port, "<" if arguments.little else ">")
    with channel.stream:
        channel.negotiate(arguments.channel, arguments.qmgr, 0 if arguments.unshared else 10)
        worker = Conversation(channel, 1 if channel.shared else 0)
        worker.identify(getpass.getuser())
        if arguments.user:
            worker.authenticate(arguments.user, arguments.password)
        print(f"connected to {worker.connect(arguments.qmgr)} at level {channel.level}, segments of {channel.longest_segment} bytes, "
              f"{channel.conversations} conversations")
        watcher = worker
        if channel.conversations > 1:
            watcher = Conversation(channel, 3)
            channel.action(watcher.number, START)
            watcher.accepted()
            watcher.connect(arguments.qmgr)
        work(worker, watcher, arguments.queue, arguments.text)
        if watcher is not worker:
            watcher.call(MQDISC)
            channel.action(watcher.number, END)
        worker.call(MQDISC)
        if channel.shared:
            channel.action(worker.number, END, CLOSE)
        else:
            channel.send(STATUS_DATA, b"", flags=CLOSE)
        print("disconnected")


def main() -> None:
    """Reads the command line; tells what went wrong."""
    parser = argparse.ArgumentParser(description="Speaks with a queue manager over a channel; see channel-protocol.md.")
    parser.add_argument("--little", action="store_true", help="numbers in little-endian order")
    parser.add_argument("--unshared", action="store_true", help="one conversation, without headers for more")
    parser.add_argument("--user", help="send these credentials")
    parser.add_argument("--password", default="")
    for name in ("host", "port", "channel", "qmgr", "queue"):
        parser.add_argument(name, type=int if name == "port" else str)
    parser.add_argument("text", nargs="+")
    try:
        run(parser.parse_args())
    except (Failed, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
