"""Steps that touch devices: push a wave, leave devices out, confirm, roll back, and settle what was left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from qosforge.compiler.candidate import plan_differences
from qosforge.compiler.compile import CompiledDevice
from qosforge.deploy import transaction
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.fleet import Outcome
from qosforge.deploy.transaction import Target
from qosforge.errors import DeviceError, Place, ServiceError, StoreError
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.leases import LeaseLost
from qosforge.runs.record.rollout_record import LEAVE_OUT, planned_waves
from qosforge.runs.workflow import rollback
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.steps.prepare import errors_and_stop, errors_of, recompile, store_texts
from qosforge.runs.workflow.steps.wait import find_hindrance

Json = dict[str, Any]


def _targets(
    context: Context,
    original: Mapping[str, str],
    prepared: Mapping[str, Json],
    meets: Mapping[str, Callable[[DeviceText], bool]] | None = None,
) -> dict[str, Target]:
    """The devices of a run; what they have to meet is worked out where something is entered or kept: `_goals`."""
    targets = {}
    for name, planned in prepared.items():
        device = context.network.device(name)
        targets[name] = Target(
            device=name,
            platform=device.platform,
            capabilities=driver_capabilities(device.driver, name),
            original=context.configuration(name, original[name]),
            delta=tuple(context.artifacts.get_text(planned["delta"]).splitlines()),
            meets=meets[name] if meets is not None else _nothing_meets,
        )
    return targets


def _goals(
    context: Context, original: Mapping[str, str], *, touched: bool
) -> Mapping[str, Callable[[DeviceText], bool]]:
    """Whether a running configuration is what the run wants of a device, by device."""
    if context.resolved.rollback_of is None:
        compiled = recompile(context, original, touched=touched)
        return {device.name: partial(_meets, device) for device in compiled.devices}
    return {
        name: partial(rollback.is_restored, before) for name, before in rollback.rollback_targets(context).items()
    }


def _nothing_meets(_running: DeviceText) -> bool:
    return False


def _meets(device: CompiledDevice, running: DeviceText) -> bool:
    return not plan_differences(device, running)


def push_wave(
    context: Context, original: Mapping[str, str], prepared: Mapping[str, Json], wave: Json, candidate: str | None
) -> Json:
    """Enter the deltas of one wave and read back; what a device holds must be what was meant.

    ``wave`` is one that `rollout.plan` gave, with its ``number`` and ``of`` how many it is. ``candidate`` is what
    the gate is asked about; a push that nothing holds up has none.

    Returns:
        ``running`` and ``errors``; or, where a device may not be touched now, ``begun`` and ``stop``, or ``wait``.
        With ``stop`` come the ``errors`` of devices that were left in the midst of it.

    Raises:
        LeaseLost: another run took a device before one was touched.
    """
    names = wave["devices"]
    earlier = {touch.device for touch in context.store.journal.open_touches(context.run_id)}
    begun = bool(earlier)
    try:
        hindrance = find_hindrance(context, list(prepared), candidate, wave["revert_seconds"])
        if not hindrance:
            targets = {
                name: replace(target, touched=name in earlier)
                for name, target in _targets(
                    context, original, prepared, _goals(context, original, touched=begun)
                ).items()
            }
            # Again: that may have taken its time, and what the gate says holds for a moment.
            hindrance = find_hindrance(context, list(prepared), candidate, wave["revert_seconds"])
    except LeaseLost as error:
        if not begun:
            raise
        return {"running": {}, "errors": [error.document()]}
    if begun and "wait" in hindrance:
        # A process died in the midst of it: what was open then is closed by now, and devices do not wait half-way.
        why = ServiceError(
            f"the push was cut short and may not go on: {hindrance['wait']['waits_for']}", hint="retry the run"
        )
        return {"running": {}, "errors": [why.document()]}
    if hindrance:
        return {"begun": begun, **hindrance}
    with context.store.stage(context.run_id, "push") as summary:
        text = _named(wave)
        context.observe("push", text)

        def touch(name: str, driver: DeviceDriver) -> DeviceText:
            return transaction.apply(driver, targets[name], context, wave["revert_seconds"])

        outcomes = context.on_devices(names, touch, steps=wave["steps"], paced=True)
        summary |= {"errors": errors_of(outcomes), "devices": names, "wave": wave["number"], "text": text}
    left = errors_and_stop(context, outcomes)
    if "stop" in left:
        return {"begun": bool(context.store.journal.open_touches(context.run_id)), **left}
    with context.store.stage(context.run_id, "read-back") as summary:
        after = store_texts(context, outcomes)
        errors = [*errors_of(outcomes), *_compare(context, original, after)]
        summary |= {"running": after, "errors": errors, "wave": wave["number"]}
    return {"running": after, "errors": errors}


def _named(wave: Json) -> str:
    devices = ", ".join(wave["devices"])
    return devices if wave["of"] == 1 else f"wave {wave['number']} of {wave['of']}, {wave['name']}: {devices}"


def leave_out(
    context: Context,
    original: Mapping[str, str],
    prepared: Mapping[str, Json],
    names: list[str],
    errors: list[Json],
) -> Json:
    """Put devices back that failed, with those that must not be changed without them, and go on without them.

    Returns:
        ``running`` and ``errors``, as `roll_back`; ``left_out``: an error for each device that could be put back.
    """
    with context.store.stage(context.run_id, LEAVE_OUT) as summary:
        told = {error["device"]: error for error in errors}
        context.observe(LEAVE_OUT, ", ".join(names))
        touched = {touch.device for touch in context.store.journal.open_touches(context.run_id)}
        targets = {n: t for n, t in _targets(context, original, prepared).items() if n in names and n in touched}
        undone = _restored(context, targets)
        failed = {error["device"] for error in undone["errors"]}
        why = {"message": f"changes with {', '.join(sorted(told))}, which failed", "hint": ""}
        summary["left_out"] = [told.get(n, {**why, "device": n}) for n in names if n not in failed]
        summary["text"] = "; ".join(f"{each['device']}: {each['message']}" for each in summary["left_out"])
    return {**undone, "left_out": summary["left_out"]}


def _compare(context: Context, original: Mapping[str, str], after: Mapping[str, str]) -> list[Json]:
    if context.resolved.rollback_of is not None:
        return rollback.find_unrestored(context, after)
    found: list[Json] = []
    for device in recompile(context, original, touched=True).devices:
        if device.name not in after:
            continue
        read = context.configuration(device.name, after[device.name])
        found_unlike = tuple(read.saying(words).in_message() for words in plan_differences(device, read))
        if found_unlike:
            context.record(device.name, "failed", note=f"does not hold the plan: {found_unlike[0]}")
            error = DeviceError(
                f"does not hold what it was given: {_told(found_unlike)}",
                Place(device=device.name),
                "the device took the lines and did not keep them: compare the read-back with the configuration",
            )
            found.append(error.document())
        else:
            context.record(device.name, "read_back", note="holds the plan")
    return found


MOST_TOLD = 5


def _told(differences: tuple[str, ...]) -> str:
    """The first few differences; a map that fell back to its default has dozens."""
    more = len(differences) - MOST_TOLD
    return "; ".join(differences[:MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")


def confirm(context: Context, original: Mapping[str, str], prepared: Mapping[str, Json]) -> Json:
    """Confirm on every touched device: disarm and save."""
    touched = [touch.device for touch in context.store.journal.open_touches(context.run_id)]
    targets = _targets(context, original, prepared, _goals(context, original, touched=True))
    with context.store.stage(context.run_id, "keep") as summary:
        context.observe("keep", ", ".join(touched))

        def save(name: str, driver: DeviceDriver) -> str:
            transaction.confirm(driver, targets[name], context)
            return "saved"

        outcomes = context.on_devices(touched, save)
        summary |= {"devices": touched, "errors": errors_of(outcomes)}
    return {"devices": touched, **errors_and_stop(context, outcomes)}


def roll_back(context: Context, original: Mapping[str, str], prepared: Mapping[str, Json]) -> Json:
    """Undo every touched device, a confirmed one too, and prove by reading that it is as before."""
    saved = context.store.journal.saved(context.run_id)
    touched = {touch.device for touch in context.store.journal.open_touches(context.run_id)} | saved
    targets = _targets(context, original, prepared)
    return _restored(
        context,
        {name: replace(target, saved=name in saved) for name, target in targets.items() if name in touched},
    )


def _restored(context: Context, targets: Mapping[str, Target]) -> Json:
    """Restore devices, newest wave first: those of a wave when all of the waves after it are done."""
    with context.store.stage(context.run_id, "rollback") as summary:
        context.observe("rollback", ", ".join(targets) or "no device was touched")

        def back(name: str, driver: DeviceDriver) -> DeviceText:
            return transaction.restore(driver, targets[name], context)

        outcomes: dict[str, Outcome[DeviceText]] = {}
        for steps in _newest_first(context, targets):
            names = [name for step in steps for name in step]
            outcomes |= context.on_devices(names, back, stoppable=False, steps=steps)
        after = store_texts(context, outcomes)
        summary |= {"running": after, "errors": errors_of(outcomes)}
    return {"running": after, "errors": errors_of(outcomes)}


def _newest_first(context: Context, targets: Collection[str]) -> list[list[list[str]]]:
    """The steps of each wave, as far as they are among ``targets``, the last wave first."""
    left = set(targets)
    found = []
    for wave in reversed(planned_waves(context.store, context.run_id)):
        steps = [names for step in reversed(wave["steps"]) if (names := [name for name in step if name in left])]
        left.difference_update(*steps)
        found.append(steps)
    rest = [[name] for name in targets if name in left]  # of a run of an earlier release
    return [steps for steps in (rest, *found) if steps]


def settle(context: Context) -> Json:
    """Undo what an ended run left open, from what its journal kept of every device."""
    open_now = {touch.device: touch for touch in context.store.journal.open_touches(context.run_id)}
    saved = context.store.journal.saved(context.run_id)
    targets = {}
    for name, touch in open_now.items():
        device = context.network.device(name)
        if touch.before is None:
            raise StoreError("the journal has no configuration to go back to", Place(device=name))
        targets[name] = Target(
            device=name,
            platform=device.platform,
            capabilities=driver_capabilities(device.driver, name),
            original=context.configuration(name, touch.before),
            delta=(),
            meets=_nothing_meets,
            saved=name in saved,
        )
    return _restored(context, targets)
