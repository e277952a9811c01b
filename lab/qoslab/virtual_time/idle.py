"""A program that counts on where a guest has nothing to do, so that its processor never halts.

A halted one has its clock moved by another thread of QEMU, which may see it asleep before its last instructions are
counted: timers then come some of these late, by how this machine runs the two.
"""

from __future__ import annotations

import struct

from qoslab.virtual_time.cpio import Entry, File

_SCHED_IDLE = 5
_AT = 0x400000
_HEADERS = 64 + 56


def idle_program(nops: int) -> dict[str, Entry]:
    """The program that the guest's first script starts, for x86-64: it takes the class SCHED_IDLE and does nothing.

    ``nops`` are the instructions of a round beside its jump. QEMU takes little longer for a round of more, so that
    more make the guest's idle time pass faster; a round of up to 511 instructions is one block of it.
    """
    code = _take_idle_class()
    code += b"\x90" * nops + b"\xe9" + struct.pack("<i", -nops - 5)
    size = _HEADERS + len(code)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, _AT + _HEADERS, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0, _AT, _AT, size, size, 0x1000)
    return {"guest/idle": File(header + code, executable=True)}


def _take_idle_class() -> bytes:
    """The system call sched_setscheduler(0, SCHED_IDLE, {0}), its parameter on the stack."""
    code = b"\x6a\x00"  # push 0
    code += b"\x48\x89\xe2"  # mov rdx, rsp
    code += b"\x31\xff"  # xor edi, edi
    code += b"\xbe" + struct.pack("<I", _SCHED_IDLE)  # mov esi, 5
    code += b"\xb8" + struct.pack("<I", 144)  # mov eax, 144
    return code + b"\x0f\x05"  # syscall
