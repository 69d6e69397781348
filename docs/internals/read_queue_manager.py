#!/usr/bin/env python3
"""Reads the files of a queue manager that is not running, and says what a restart would find.

    python3 read_queue_manager.py [--json] DATA LOG

DATA is the queue manager's folder (qmgrs/QM1), LOG the folder of its recovery log (log/QM1). Prints every object
definition and, queue by queue in the order of delivery, the messages: number, MsgId, backout count, length and CRC-32
of the data, and the length of the properties in front of them. Nothing is changed. Exit status 0: all of it could be read; 1: the files are damaged or in use, and
standard error says what is wrong and where.

Written from files.md, in its order and with its words, to show that the page suffices; it shares nothing with the
queue manager, so that each can be tested by the other.
"""

import argparse
import fcntl
import json
import os
import re
import struct
import sys
from collections import namedtuple
from zlib import crc32

PAGE, PAGE_HEADER, RECORD_HEADER, BLOCK, ITEM_HEADER = 4096, 32, 8, 512, 16
LARGEST_RECORD = 134_217_728
# Bytes of a sealed body beyond those of the body.
SEAL = 45
WRAP = 2**64 - 1
KINDS = {1: "queue manager", 2: "local queue", 3: "model queue", 4: "alias queue", 5: "remote queue",
         6: "server-connection channel", 7: "listener", 8: "client-connection channel", 9: "namelist", 10: "process definition",
         11: "authentication information CRLLDAP", 12: "authentication information OCSP",
         13: "authentication information IDPWOS", 14: "authentication information IDPWLDAP",
         15: "communication information", 16: "service", 17: "topic", 18: "subscription",
         19: "authority record",
         20: "channel authentication record (BLOCKUSER)", 21: "channel authentication record (BLOCKADDR)",
         22: "channel authentication record (SSLPEERMAP)", 23: "channel authentication record (ADDRESSMAP)",
         24: "channel authentication record (USERMAP)", 25: "channel authentication record (QMGRMAP)"}
LOCAL_QUEUE = 2
MQIA_MSG_DELIVERY_SEQUENCE, MQMDS_FIFO = 16, 1
PUT, GET, COMMIT, BACKOUT, OBJECT, DELETED, CLEARED, DISCARDED, CHECKPOINT, PREPARE, HEURISTIC, FORGOTTEN, \
    PUBLISH, PUBLISH_PIECES = range(1, 15)
FILED = 0  # Where an image has a put of a unit in doubt: its message is in the queue's file.
# The forms of a descriptor's fields in the order of their bits: a number is that many bytes.
DESCRIPTOR = [4] * 7 + ["text", 4, 4, 24, 24] + ["text"] * 3 + [32, "text", 4] + ["text"] * 4 + [24] + [4] * 6 + ["text"]
PRIORITY, PERSISTENCE, MSG_ID, PROPERTIES = 8, 9, 10, 28

Slot = namedtuple("Slot", "controlled sequence restart acknowledged generation restart_generation file_pages primary secondary "
                  "anchor")
# `body` is descriptor and data; None while they are only in the queue file, at `place`.
Message = namedtuple("Message", "number order_list persistent backouts expires place body")
Page = namedtuple("Page", "lsn generation used first acknowledged raw")


class Damaged(Exception):
    """The files are not what a queue manager leaves: nothing of them is shown."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


class Fields:
    """Takes fields from the front of some bytes."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def bytes(self, length):
        self.at += length
        require(self.at <= len(self.data), f"{self.what} is too short")
        return self.data[self.at - length:self.at]

    def number(self, length, signed=False):
        return int.from_bytes(self.bytes(length), "little", signed=signed)

    def text(self, length):
        return self.bytes(length).decode("utf-8", "backslashreplace")

    def rest(self):
        return self.bytes(len(self.data) - self.at)

    def more(self):
        return self.at < len(self.data)

    def expect(self, length, wanted):
        """A number that has only one value today."""
        found = self.number(length)
        require(found == wanted, f"{self.what} has the unknown format {found}")


def sealed(raw, mark):
    return len(raw) == PAGE and raw[4:8] == mark and crc32(raw[4:]) == struct.unpack_from("<I", raw)[0]


def read_control(folder):
    usable = []
    with open(os.path.join(folder, "LOG.CTL"), "rb") as file:
        for raw in filter(lambda raw: sealed(raw, b"PHLC"), (file.read(PAGE), file.read(PAGE))):
            form, *values, length = struct.unpack_from("<IIQQQIIIIII", raw, 8)
            require(form == 1, f"LOG.CTL has the unknown format {form}")
            slot = Slot(*values, raw[64:64 + length])
            if (slot.controlled <= 1 and slot.restart <= slot.acknowledged and slot.acknowledged % PAGE == 0
                    and slot.restart_generation <= slot.generation and 64 <= slot.file_pages < 65536 and 2 <= slot.primary <= 510
                    and 1 <= slot.secondary <= 511 - slot.primary and not any(raw[64 + min(length, 256):])):
                usable.append(slot)
    require(usable, "neither slot of LOG.CTL is usable")
    return max(usable, key=lambda slot: slot.sequence)


def log_page(raw):
    """A log page, if it is intact."""
    if not sealed(raw, b"PH\1\0"):
        return None
    page = Page(*struct.unpack_from("<QIHHQ", raw, 8), raw)
    possible = (page.lsn % PAGE == 0 and page.acknowledged % PAGE == 0 and page.acknowledged <= page.lsn
                and PAGE_HEADER < page.used <= PAGE and (page.first == 0 or PAGE_HEADER <= page.first < page.used))
    return page if possible else None


def payload_length(header, lsn):
    length, mark, zero, check = struct.unpack("<IBBH", header)
    a = (lsn ^ length << 40) * 0x9E3779B97F4A7C15 & WRAP
    b = (a ^ a >> 29 ^ length) * 0xBF58476D1CE4E5B9 & WRAP
    require(mark == 0xA7 and zero == 0 and check == b >> 48 and length <= LARGEST_RECORD,
            f"log: no record begins at LSN {lsn}")
    return length


class Log:
    def __init__(self, folder, control):
        self.folder, self.control, self.end = os.path.join(folder, "active"), control, None
        self.extent_bytes = control.file_pages * PAGE
        self.extents = {int(found[1]): entry for entry in os.listdir(self.folder)
                        if (found := re.fullmatch(r"S(\d{7,})\.LOG", entry))}

    def positions(self, start):
        """Position and intact page (or None) for every page from a position on that a file has; in LSN order."""
        for extent in sorted(number for number in self.extents if (number + 1) * self.extent_bytes > start):
            with open(os.path.join(self.folder, self.extents[extent]), "rb") as file:
                position = max(start, extent * self.extent_bytes)
                file.seek(position - extent * self.extent_bytes)
                while len(raw := file.read(PAGE)) == PAGE and position < (extent + 1) * self.extent_bytes:
                    yield position, log_page(raw)
                    position += PAGE

    def pages(self):
        """The usable pages. Where they end is the log's end only if nothing says that more was acknowledged."""
        expected, generation, control = self.control.restart // PAGE * PAGE, self.control.restart_generation, self.control
        for position, page in self.positions(expected):
            if position != expected:
                break
            if page:
                old_copy = page.lsn > position or page.lsn == position and page.generation > control.generation
                require(not old_copy, f"log: LOG.CTL is older than the page at LSN {position}")
            if not page or page.lsn != position or page.generation < generation:
                break
            generation = page.generation
            yield page
            expected += PAGE
        self.end = end = expected
        extent = self.extents.get(end // self.extent_bytes)
        require(not extent or os.path.getsize(os.path.join(self.folder, extent)) >= self.extent_bytes,
                f"log: {extent} is too short")
        require(control.acknowledged <= end, f"log: the page at LSN {end} was acknowledged and is not usable")
        for position, page in self.positions(end + PAGE):
            proves = page and page.lsn == position and generation <= page.generation <= control.generation
            require(not proves or page.acknowledged <= end,
                    f"log: the page at LSN {end} is not usable; that at {position} says that it was acknowledged")

    def records(self):
        """LSN and payload of each complete record, from the restart LSN on."""
        begun, lsn, length, before = bytearray(), 0, None, None
        for page in self.pages():
            at, first = PAGE_HEADER, 0
            if before is None:
                # Reading may begin in the middle of this page, which then has an earlier first record.
                at, first = max(at, self.control.restart - page.lsn), page.first
            elif page.generation != before.generation:
                begun.clear()
            while at < page.used:
                if not begun:
                    lsn, length, first = page.lsn + at, None, first or at
                wanted = RECORD_HEADER if length is None else RECORD_HEADER + length
                take = min(wanted - len(begun), page.used - at)
                begun += page.raw[at:at + take]
                at += take
                if length is None and len(begun) == RECORD_HEADER:
                    length = payload_length(begun, lsn)
                if length is not None and len(begun) == RECORD_HEADER + length:
                    yield lsn, bytes(begun[RECORD_HEADER:])
                    begun.clear()
            require(first == page.first, f"log: the first record of the page at LSN {page.lsn} is not where it says")
            require(page.used == PAGE or not begun, f"log: the record at LSN {lsn} is cut by a page that is not full")
            before = page


def descriptor_fields(fields):
    """The fields that a descriptor has, by bit."""
    mask, found = fields.number(4), {}
    require(mask < 1 << len(DESCRIPTOR), "a message descriptor has unknown fields")
    for bit, form in enumerate(DESCRIPTOR):
        if mask >> bit & 1:
            length = fields.number(1) if form == "text" else form
            found[bit] = fields.number(4, signed=True) if form == 4 else fields.bytes(length)
    return found


def descriptor(body):
    """The same, and the data behind it."""
    fields = Fields(body, "a message descriptor")
    return descriptor_fields(fields), fields.rest()


def written(found):
    """A descriptor of these fields."""
    out = sum(1 << bit for bit in found).to_bytes(4, "little")
    for bit, value in sorted(found.items()):
        form = DESCRIPTOR[bit]
        out += value.to_bytes(4, "little", signed=True) if form == 4 else (
            bytes([len(value)]) + value if form == "text" else value)
    return out


def is_persistent(body):
    return descriptor(body)[0].get(PERSISTENCE, 0) == 1


def text(fields):
    return fields.text(fields.number(4))


def several(one):
    return lambda fields: [one(fields) for _ in range(fields.number(4))]


# The value of an attribute by its type.
VALUES = {1: lambda fields: fields.number(4, True), 2: text, 3: lambda fields: fields.number(8, True),
          4: several(lambda fields: fields.number(8, True)), 5: several(text),
          6: lambda fields: fields.bytes(fields.number(4)).hex(), 7: text, 8: text, 9: lambda fields: None}


class Definition:
    """An object, and what is on it if it is a local queue. `damage` says why its messages cannot be read."""

    def __init__(self, fields, lsn):
        self.lsn, self.kind, self.queue = lsn, fields.number(1), fields.number(8)
        require(self.kind in KINDS, f"a definition has the unknown kind {self.kind}")
        length = fields.number(1)
        self.name = fields.text(fields.number(2) if length == 255 else length)
        fields.expect(1, 1)
        self.attributes, self.messages, self.damage = {}, {}, None
        for _ in range(fields.number(4)):
            selector, form = fields.number(4, signed=True), fields.number(1)
            require(form in VALUES, f"an attribute of {self.name} has an unknown type")
            self.attributes[selector] = VALUES[form](fields)


def image_sections(path, number):
    with open(path, "rb") as file:
        raw = file.read()
    fields, sections = Fields(raw, path), {}

    def checked(length):
        header = fields.bytes(length)
        require(crc32(header[:-4]) == struct.unpack("<I", header[-4:])[0], f"{path}: the bytes before {fields.at}")
        return header[:-4]

    head = checked(32)
    require(head == struct.pack("<8sIIQI", b"PHCHKPNT", 1, 0, number, 0), f"{path} is not image {number}")
    chain = crc32(head)
    while raw[fields.at:fields.at + 4] == b"SECT":
        header = checked(24)
        _, kind, length, check = struct.unpack("<4sIQI", header)
        sections[kind] = fields.bytes(length)
        require(kind == len(sections) and crc32(sections[kind]) == check, f"{path}: section {kind}")
        chain = crc32(header, chain)
    trailer = struct.pack("<4sIQQI", b"LAST", 0, len(sections), len(raw), chain)
    require(checked(32) == trailer and not fields.more() and len(sections) == 4, f"{path}: the trailer")
    return sections


class QueueManager:
    def __init__(self, data_folder, log_folder):
        self.folder, self.objects, self.queues, self.units = data_folder, {}, {}, {}
        # Units of work in doubt, or remembered after a heuristic completion: identifier and outcome.
        self.branches = {}
        control = read_control(log_folder)
        anchor = Fields(control.anchor, "the anchor")
        form = anchor.number(4)
        require(form in range(6, 14), f"the anchor has the unknown format {form}")
        # Their bodies cannot be read here, but everything else.
        self.sealed = form % 2 == 1
        self.read_image(anchor.number(8), control.controlled)
        log = Log(log_folder, control)
        for lsn, payload in log.records():
            self.redo(lsn, Fields(payload, f"log: the record at LSN {lsn}"))
        for unit, changes in self.units.items():
            for kind, queue, number, *details in changes:
                # Never committed: puts are forgotten, or in hand.
                if kind == GET and unit in self.branches:
                    self.apply(GET, queue, number)
                elif kind == GET:
                    self.raise_backouts(queue, number, details[0])
        self.lsns = control.restart, log.end

    def item(self, queue, first, length, check=None):
        """The payload of an item in a queue's file; with `check`, of the very one that has this checksum."""
        name = f"{queue.name.replace('/', '&')}.{queue.queue}"
        with open(os.path.join(self.folder, "queues", name), "rb") as file:
            head = struct.pack("<4sII", b"PHQF", 1, BLOCK)
            require(file.read(16) == head + struct.pack("<I", crc32(head)), f"{name} is not a queue file")
            file.seek(first * BLOCK)
            raw = file.read(ITEM_HEADER + length)
        whole = (first and len(raw) == ITEM_HEADER + length and raw[:12] == struct.pack("<4sII", b"PHQI", length, first)
                 and crc32(raw[4:12] + raw[16:]) == struct.unpack_from("<I", raw, 12)[0]
                 and check in (None, struct.unpack_from("<I", raw, 12)[0]))
        require(whole, f"{name}: the item at block {first}")
        return raw[ITEM_HEADER:]

    def read_image(self, number, controlled):
        path = os.path.join(self.folder, f"checkpoint-{number}.img")
        sections = image_sections(path, number)
        header, catalogue, queues, units = (Fields(sections[kind], path) for kind in (1, 2, 3, 4))
        # Of a release before, until the first checkpoint of this one.
        form = header.number(4)
        require(form in ((7, 9, 11) if self.sealed else (6, 8, 10)), f"{path} has the unknown format {form}")
        header.bytes(24)
        controlled = header.number(1) == 1 and controlled
        while catalogue.more():
            lsn = catalogue.number(8)
            self.define(Definition(catalogue, lsn))
        while queues.more():
            queue = self.queues.get(queues.number(8))
            chunks = [(queues.number(4), queues.number(4), queues.number(4)) for _ in range(queues.number(4))]
            try:
                for chunk in chunks if queue else []:
                    if chunk[0] != 0xFFFFFFFF:
                        self.read_chunk(queue, self.item(queue, *chunk), controlled)
            except (Damaged, FileNotFoundError) as error:
                # Of no importance if the log has the record that cleared or deleted it.
                queue.damage = error
        while units.more():
            row = Fields(units.bytes(units.number(4)), f"{path}: a row of a unit in doubt")
            if row.data[:1] != bytes([FILED]):
                self.redo(0, row)
                continue
            row.expect(1, FILED)
            unit, queue = row.number(8), row.number(8)
            message, priority = self.entry(row)
            require(not row.more(), f"{row.what} is too long")
            if message.persistent or controlled:
                self.units.setdefault(unit, []).append((FILED, queue, message.number, message, priority))

    @staticmethod
    def entry(entries):
        """A message that is in its queue's file, and its priority."""
        number, first, length, _, _, expires, backouts, order_list, priority, in_group, persistent = struct.unpack(
            "<QIIIIIHBBBB", entries.bytes(34))
        entries.bytes(36 if in_group else 0)
        return Message(number, order_list, persistent == 1, backouts, expires * 1_000_000, (first, length), None), priority

    def read_chunk(self, queue, payload, with_non_persistent):
        entries = Fields(payload, f"a chunk of {queue.name}")
        while entries.more():
            message, _ = self.entry(entries)
            require(message.number not in queue.messages, f"{queue.name}: message {message.number} is in the image twice")
            if message.persistent or with_non_persistent:
                queue.messages[message.number] = message

    def define(self, definition):
        before = self.objects.get((definition.kind, definition.name))
        if before and before.lsn > definition.lsn:
            return
        if before and before.queue == definition.queue:
            definition.messages, definition.damage = before.messages, before.damage
        elif before:
            self.queues.pop(before.queue, None)
        self.objects[definition.kind, definition.name] = definition
        if definition.kind == LOCAL_QUEUE:
            self.queues[definition.queue] = definition

    def redo(self, lsn, fields):
        kind = fields.number(1)
        if kind in (PUT, GET):
            unit, queue, number = fields.number(8), fields.number(8), fields.number(8)
            details = (fields.number(8, True), fields.rest()) if kind == PUT else (fields.number(2),)
            change = (kind, queue, number, *details)
            self.units.setdefault(unit, []).append(change) if unit else self.apply(*change)
        elif kind in (PUBLISH, PUBLISH_PIECES):
            unit, base = fields.number(8), descriptor_fields(fields)
            shapes = [[fields.number(4) for _ in range(3)] for _ in range(fields.number(4))] if kind == PUBLISH_PIECES else None
            lengths = [fields.number(4) for _ in range(fields.number(4))]
            puts = [(PUT, fields.number(8), fields.number(8), fields.number(8, True), fields.number(4),
                     base | descriptor_fields(fields)) for _ in range(fields.number(4))]
            if self.sealed:
                sealed = sum(lengths) + sum(length for length, _, _ in shapes or [])
                require(len(fields.rest()) == sealed + SEAL, "a publication is shorter than its bodies")
                bodies = [bytes(head + lengths[piece] - at + SEAL)
                          for head, piece, at in shapes or [(0, piece, 0) for piece in range(len(lengths))]]
            else:
                heads = [fields.bytes(length) for length, _, _ in shapes or []]
                bodies = [fields.bytes(length) for length in lengths]
            if shapes and not self.sealed:
                bodies = [head + bodies[piece][at:] for head, (_, piece, at) in zip(heads, shapes)]
            for *put, body, found in puts:
                change = (*put, written(found) + bodies[body])
                self.units.setdefault(unit, []).append(change) if unit else self.apply(*change)
        elif kind == COMMIT:
            self.commit(fields.number(8))
        elif kind == BACKOUT:
            self.back_out(fields.number(8), fields)
        elif kind == PREPARE:
            unit, _, form, length = fields.number(8), fields.number(8, True), fields.number(4, True), fields.number(1)
            xid = form, fields.bytes(length).hex(), fields.rest().hex()
            self.branches[unit] = {"xid": xid, "heuristic": None}
        elif kind == HEURISTIC:
            unit, committed = fields.number(8), fields.number(1)
            branch = self.branches.get(unit)
            if committed:
                self.commit(unit)
            else:
                self.back_out(unit, fields)
            if branch:
                self.branches[unit] = branch | {"heuristic": "committed" if committed else "backed out"}
        elif kind == FORGOTTEN:
            self.branches.pop(fields.number(8), None)
        elif kind == OBJECT:
            fields.number(8)
            self.define(Definition(fields, lsn))
        elif kind == DELETED:
            fields.number(8)
            key = fields.number(1), fields.text(len(fields.data) - fields.at)
            if key in self.objects and self.objects[key].lsn <= lsn:
                self.queues.pop(self.objects.pop(key).queue, None)
        elif kind == CLEARED:
            queue, below = self.queues.get(fields.number(8)), fields.number(8)
            if queue:
                queue.messages = {number: kept for number, kept in queue.messages.items() if number >= below}
                queue.damage = None
        elif kind == DISCARDED:
            self.apply(GET, fields.number(8), fields.number(8))
        else:
            require(kind == CHECKPOINT, f"{fields.what} has the unknown kind {kind}")

    def commit(self, unit):
        self.branches.pop(unit, None)
        for change in self.units.pop(unit, []):
            self.apply(*change)

    def back_out(self, unit, fields):
        self.branches.pop(unit, None)
        self.units.pop(unit, None)
        while fields.more():
            self.raise_backouts(fields.number(8), fields.number(8), fields.number(2))

    def apply(self, kind, queue, number, *details):
        """A put or get that happens. A queue number without a definition: the queue was deleted later."""
        queue = self.queues.get(queue)
        if queue and kind == GET:
            queue.messages.pop(number, None)
        elif queue and number not in queue.messages:
            fifo = queue.attributes.get(MQIA_MSG_DELIVERY_SEQUENCE) == MQMDS_FIFO
            if kind == FILED:
                message, priority = details
            else:
                expires, body = details
                message, priority = Message(number, 0, is_persistent(body), 0, expires, None, body), descriptor(
                    body)[0].get(PRIORITY, 0)
            queue.messages[number] = message._replace(order_list=0 if fifo else priority)

    def raise_backouts(self, queue, number, count):
        messages = self.queues[queue].messages if queue in self.queues else {}
        if number in messages:
            messages[number] = messages[number]._replace(backouts=max(messages[number].backouts, count))

    def messages(self, queue):
        """In the order of delivery. Only now are queue files read: what the log destroyed need not be there."""
        if queue.damage:
            raise queue.damage
        for message in sorted(queue.messages.values(), key=lambda one: (-one.order_list, one.number)):
            expires, body = message.expires, message.body
            if message.place:
                payload = Fields(self.item(queue, *message.place), f"{queue.name}: message {message.number}")
                number, expires, _ = payload.number(8), payload.number(8, True), payload.number(8)
                body = payload.rest()
                require(number == message.number, f"{queue.name}: message {number} is in the place of {message.number}")
            found, data = descriptor(body)
            if self.sealed:
                require(len(data) >= SEAL, f"{queue.name}: message {message.number} is shorter than what seals it")
            properties = found.get(PROPERTIES, 0)
            length = len(data) - (SEAL if self.sealed else 0) - properties
            require(properties >= 0 and length >= 0, f"{queue.name}: message {message.number} is shorter than its properties")
            yield {"number": message.number, "msgid": found.get(MSG_ID, bytes(24)).hex(), "backouts": message.backouts,
                   "length": length,
                   "crc32": None if self.sealed else f"{crc32(data[properties:]):08x}", "expires": expires,
                   "persistent": message.persistent, "properties": properties}

    def listing(self):
        ordered = [self.objects[key] for key in sorted(self.objects)]
        return {"restart_lsn": self.lsns[0], "end_lsn": self.lsns[1],
                "objects": [{"kind": KINDS[one.kind], "name": one.name, "queue": one.queue,
                             "attributes": one.attributes} for one in ordered],
                "branches": list(self.branches.values()),
                "queues": {one.name: list(self.messages(one)) for one in ordered if one.kind == LOCAL_QUEUE}}


def show(listing):
    print(f"log read from LSN {listing['restart_lsn']} to {listing['end_lsn']}")
    for one in listing["objects"]:
        print(f"{one['kind']} {one['name']}" + (f", queue {one['queue']}" if one["queue"] else ""))
        for selector, value in sorted(one["attributes"].items()):
            print(f"    {selector} = {value!r}")
    for one in listing["branches"]:
        print("branch", *one["xid"], one["heuristic"] or "in doubt")
    for name, messages in listing["queues"].items():
        print(f"messages of {name}: {len(messages)}")
        for one in messages:
            print("   ", *(f"{key} {value}" for key, value in one.items()))


def main():
    parser = argparse.ArgumentParser(description="Shows what the files of a queue manager hold; see files.md.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("data")
    parser.add_argument("log")
    arguments = parser.parse_args()
    try:
        # Whoever runs the queue manager holds this, so nothing changes while it is read.
        with open(os.path.join(arguments.data, "lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            listing = QueueManager(arguments.data, arguments.log).listing()
    except BlockingIOError:
        sys.exit("the queue manager is running")
    except (Damaged, OSError) as error:
        sys.exit(str(error))
    json.dump(listing, sys.stdout, indent=1) if arguments.json else show(listing)


if __name__ == "__main__":
    main()
