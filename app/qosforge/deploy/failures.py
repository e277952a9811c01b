"""What a session with a device ended with, as an error that somebody can act on."""

from __future__ import annotations

from typing import TypeVar

from cli_candidate.errors import (
    CommitBrokenError,
    CommitPendingError,
    EnableRefusedError,
    LimitExceededError,
    LineRefusedError,
    LineTimeoutError,
    SessionStoppedError,
)
from cli_candidate.known_hosts import RevokedHostKey
from napalm.base.exceptions import (
    CommandErrorException,
    ConnectAuthError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
    NapalmException,
)
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException
from paramiko.hostkeys import InvalidHostKey
from paramiko.ssh_exception import BadHostKeyException, IncompatiblePeer, SSHException

from qosforge.deploy.sessions import setting_of
from qosforge.errors import (
    ChangeRefused,
    CommandRefused,
    CommitPending,
    DeviceError,
    EnableRefused,
    HostKeyUnknown,
    LoginRefused,
    Place,
    QosforgeError,
)
from qosforge.platforms.device_text import DeviceWords

E = TypeVar("E", bound=BaseException)


def problem_of(caught: Exception, words: DeviceWords) -> QosforgeError:
    """What happened at the device of these words, and what to do about it, as it may be shown.

    An error of ours is itself.
    """
    return words.shown_in(_problem(caught, Place(device=words.device)))


def _problem(caught: Exception, place: Place) -> QosforgeError:
    match caught:
        case QosforgeError():
            return caught
        case LimitExceededError() | LineTimeoutError() | SessionStoppedError() | CommitBrokenError():
            return _cut_short(caught, place)
        case EnableRefusedError():
            hint = "check the secret of its credentials; without one, its user must log in privileged"
            return EnableRefused("the device refuses the enable secret", place, hint)
        case ConnectAuthError() | NetmikoAuthenticationException():
            return LoginRefused("the device refuses the credentials", place, "check user name, password and secret")
        case ConnectionClosedException():
            return DeviceError(
                str(caught), place, "nothing further was sent to it: try again when the device answers"
            )
        case ConnectionException() | NetmikoTimeoutException():
            return _unreached(caught, place)
        case MergeConfigException():
            answer = caught.answer.strip() if isinstance(caught, LineRefusedError) else ""
            return ChangeRefused(str(caught), place, "nothing further was sent to it", answer)
        case CommitPendingError():
            hint = "confirm it on the device, or roll it back, then run it again"
            return CommitPending(str(caught), place, hint)
        case CommandErrorException():
            return CommandRefused(str(caught), place, "nothing further was sent to it")
        case NapalmException():
            return DeviceError(str(caught), place, "nothing further was sent to it")
        case InvalidHostKey():
            return _unreached(caught, place)
        case SSHException() | OSError() | EOFError():
            return DeviceError(f"the connection broke: {caught}", place, "try again when the device answers")
        case _:
            return DeviceError(f"the driver failed: {type(caught).__name__}: {caught}", place)


def _cut_short(caught: BaseException, place: Place) -> DeviceError:
    """What to do about a session that a limit, or somebody, ended."""
    limit = _cause(caught, LimitExceededError)
    if limit is not None:
        hint = (
            "nothing further was sent to it: look at the device; if it needs so much, raise "
            f"{setting_of(limit.step, limit.quantity)}"
        )
        return DeviceError(str(caught), place, hint)
    if _cause(caught, SessionStoppedError) is not None:
        hint = "what a run had begun on it, the run or `qosforge recover` settles"
        return DeviceError(f"left before it was done: {caught}", place, hint)
    return DeviceError(str(caught), place, "nothing further was sent to it")


def _cause(caught: BaseException, kind: type[E]) -> E | None:
    """The error of a kind that is behind another one."""
    error: BaseException | None = caught
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None


def _unreached(caught: BaseException, place: Place) -> DeviceError:
    """Why a session did not come about; drivers wrap what really happened, and say less."""
    first: BaseException | None = caught
    trust = f"qosforge device trust {place.device} --network FOLDER"
    while first is not None:
        if isinstance(first, BadHostKeyException):
            return DeviceError(
                "it shows another host key than the one that is known of it",
                place,
                f"somebody answers in its place, or it has a new key: then replace it: {trust} --replace",
            )
        if isinstance(first, RevokedHostKey):
            return DeviceError(
                "it shows a host key that is marked as revoked in known_hosts",
                place,
                "somebody answers in its place, or it needs a new key of its own",
            )
        if isinstance(first, SSHException) and str(first).endswith("not found in known_hosts"):
            return HostKeyUnknown(
                "its host key is not known",
                place,
                f"compare it with the device's own, and record it: {trust}",
            )
        if isinstance(first, IncompatiblePeer):
            return DeviceError(
                f"cannot be reached: it knows no algorithm that counts as safe: {first}",
                place,
                "an old device needs the transport ssh-legacy",
            )
        if isinstance(first, InvalidHostKey):
            return DeviceError(
                f"a line of known_hosts is broken: {first}", place, "correct the line, or take it away"
            )
        root, first = first, first.__cause__ or first.__context__
    said = [line.removeprefix("[Errno None] ") for error in (caught, root) for line in str(error).splitlines()[:1]]
    reason = ": ".join(dict.fromkeys(filter(None, said))) or type(caught).__name__
    return DeviceError(f"cannot be reached: {reason}", place, "is it up, and its address right?")
