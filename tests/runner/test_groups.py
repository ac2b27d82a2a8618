"""What quotas did is read where the process really is, or it is not told at all."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import Lab

from coldwarm.contracts.observation import ProcessTotals
from coldwarm.runner import telemetry
from coldwarm.runner.environment import collect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

V2 = "31 23 0:28 {top} /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
V1 = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 {top} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 {top} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)


def machine(root: Path, cgroup: str, mounts: str, files: dict[str, str]) -> Path:
    """Write a tree of /proc and /sys."""
    found = {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mounts}
    for name, text in {**found, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def stat2(usec: int) -> str:
    return f"usage_usec 5\nnr_periods 1\nnr_throttled 1\nthrottled_usec {usec}\n"


def stat1(ns: int) -> str:
    return f"nr_periods 1\nnr_throttled 1\nthrottled_time {ns}\n"


def test_its_own_group_and_those_above_it_count_in_version_2(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/cpu.stat": "usage_usec 900\n",
        "sys/fs/cgroup/a/cpu.stat": stat2(500_000),
        "sys/fs/cgroup/a/b/cpu.stat": stat2(1_500_000),
        "sys/fs/cgroup/other/cpu.stat": stat2(9_000_000),
    }
    root = machine(tmp_path, "0::/a/b\n", V2.format(top="/"), files)
    assert telemetry._throttled_s(root) == 2.0


def test_its_own_group_and_those_above_it_count_in_version_1(tmp_path: Path) -> None:
    top = "sys/fs/cgroup/cpu,cpuacct"
    files = {
        f"{top}/cpu.stat": stat1(0),
        f"{top}/jobs/cpu.stat": stat1(250_000_000),
        f"{top}/jobs/one/cpu.stat": stat1(1_000_000_000),
        f"{top}/jobs/one/cpu.cfs_quota_us": "30000\n",
        f"{top}/jobs/one/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/memory/m/memory.limit_in_bytes": "1048576\n",
    }
    cgroup = "5:cpu,cpuacct:/jobs/one\n4:memory:/m\n1:name=systemd:/x\n0::/y\n"
    root = machine(tmp_path, cgroup, V1.format(top="/"), files)
    assert telemetry._throttled_s(root) == 1.25
    found = collect(root).limits
    assert (found.cgroup_version, found.cpu_quota, found.memory_bytes) == (1, 0.3, 2**20)


def test_inside_a_container_the_mount_begins_at_its_own_group(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/cpu.stat": stat2(750_000), "sys/fs/cgroup/cpu.max": "30000 100000\n"}
    for name, cgroup, top in (
        ("of its own namespace", "0::/\n", "/"),
        ("of the host's", "0::/docker/abc\n", "/docker/abc"),
    ):
        root = machine(tmp_path / name, cgroup, V2.format(top=top), files)
        assert telemetry._throttled_s(root) == 0.75
        assert collect(root).limits.cpu_quota == 0.3
    deeper = machine(tmp_path / "d", "0::/docker/abc/job\n", V2.format(top="/docker/abc"), files)
    (deeper / "sys/fs/cgroup/job").mkdir()
    (deeper / "sys/fs/cgroup/job/cpu.stat").write_text(stat2(250_000))
    assert telemetry._throttled_s(deeper) == 1.0


def test_a_mount_point_with_a_blank_in_its_name(tmp_path: Path) -> None:
    mounts = V2.format(top="/").replace("/sys/fs/cgroup", r"/sys/fs/c\040group")
    root = machine(tmp_path, "0::/a\n", mounts, {"sys/fs/c group/a/cpu.stat": stat2(500_000)})
    assert telemetry._throttled_s(root) == 0.5


@pytest.mark.parametrize(
    ("cgroup", "top"),
    [
        ("0::/../other\n", "/"),  # outside of its namespace
        ("0::/elsewhere\n", "/docker/abc"),  # not below what is mounted
        ("0::/docker/abcd\n", "/docker/abc"),
        ("0::/\n", "/.."),  # mounted before its namespace was made
        ("0::/not/here\n", "/"),  # another machine's /sys
        ("", "/"),
    ],
)
def test_a_group_out_of_sight_is_null_and_not_the_one_at_the_root(
    tmp_path: Path, cgroup: str, top: str
) -> None:
    files = {"sys/fs/cgroup/cpu.stat": stat2(0), "sys/fs/cgroup/cpu.max": "max 100000\n"}
    root = machine(tmp_path, cgroup, V2.format(top=top), files)
    assert telemetry._throttled_s(root) is None


def test_version_1_without_a_mounted_controller_is_null(tmp_path: Path) -> None:
    root = machine(tmp_path, "5:cpu:/x\n", V2.format(top="/"), {})
    assert telemetry._throttled_s(root) is None
    assert collect(root).limits.null_reasons["cpu_quota"].code == "group_unseen"


def test_what_cannot_be_read_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_throttled_s", lambda: None)
    reading = telemetry.read(1.0)
    seen = telemetry.between(reading, reading, None, ProcessTotals())
    assert seen.throttled_s is None
    assert seen.null_reasons["throttled_s"].code == "group_unseen"


@pytest.fixture
def slow_group() -> Iterator[Path]:
    """Make a control group that has 15 % of a processor, less than others leave; remove it."""
    found = telemetry.control_groups()
    if found is None or not found.processor:
        pytest.skip("no control groups here")
    made = found.processor[0] / f"coldwarm-test-{uuid.uuid4().hex}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        if found.version == 1:
            (made / "cpu.cfs_period_us").write_text("100000")
            (made / "cpu.cfs_quota_us").write_text("15000")
        else:
            (made / "cpu.max").write_text("15000 100000")
        yield made
    except OSError as error:
        pytest.skip(f"no quota can be set here: {error}")
    finally:
        with suppress(OSError):
            for pid in (made / "cgroup.procs").read_text().split():
                (made.parent / "cgroup.procs").write_text(pid)
        made.rmdir()


@pytest.mark.slow
def test_a_real_quota_is_seen_in_the_record_and_in_the_table(
    slow_group: Path, tmp_path: Path
) -> None:
    lab = Lab(tmp_path)
    into = ("sh", "-c", f'echo $$ > {slow_group}/cgroup.procs; exec "$@"', "sh")
    arguments = ("--case", "numpy_matmul_512_f32", "--rounds", "1", "--max-rounds", "1")
    done = lab.command("run", *arguments, "--out", lab.out, prefix=into, timeout_s=300)
    assert done.code == 0, done.err
    seen = [one["telemetry"] for one in lab.case("numpy_matmul_512_f32")["observations"]]
    assert max(one["throttled_s"] for one in seen) > 0
    assert max(one.get("warm_throttled_s") or 0 for one in seen) > 0
    assert any(flag["code"] == "throttled" for one in seen for flag in one["flags"])
    said = " ".join(done.out.split())
    assert "the CPU quota throttled it for" in said
    whole = lab.command("show", lab.out, "--verbose").out
    assert "measure with a larger CPU quota" in " ".join(whole.split())
