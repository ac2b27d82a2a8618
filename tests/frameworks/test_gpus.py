"""What is done on a GPU, with stand-ins for the frameworks: no GPU is needed."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.backends.base import DeviceUnavailableError
from coldwarm.backends.torch import TorchCompile
from coldwarm.frameworks import torch as of_torch
from coldwarm.functions import backend, unfinished
from coldwarm.runner import environment, isolation
from coldwarm.runner.functions import candidates

if TYPE_CHECKING:
    from pathlib import Path

DONE: list[str] = []


class Device:
    """A device of CuPy."""

    def __init__(self, number: int = 0) -> None:
        """Keep its number; without one it is the current device."""
        self.id = number

    def synchronize(self) -> None:
        """Note that somebody waits."""
        DONE.append(f"device {self.id}")


class CupyArray:
    """An array of CuPy, on its second device."""

    device = Device(1)
    dtype = np.dtype("f4")

    def __array__(self, *_: object) -> object:
        """Refuse, as CuPy does."""
        raise TypeError("implicit conversion")


class Tensor:
    """A tensor of PyTorch."""

    is_cuda = True

    def __init__(self, index: int = 0, kind: str = "cuda") -> None:
        """Place it."""
        self.device = SimpleNamespace(type=kind, index=index)


class Stream:
    """A stream of PyTorch."""

    def __init__(self, *, done: bool) -> None:
        """Keep its state."""
        self.done = done

    def query(self) -> bool:
        """Say whether it is done."""
        return self.done


class Cuda:
    """``torch.cuda``, on a machine with two devices."""

    def __init__(self, *, used: bool, done: bool = True) -> None:
        """Keep what it tells."""
        self.used, self.stream = used, Stream(done=done)

    def is_initialized(self) -> bool:
        """Say whether a GPU was used."""
        return self.used

    is_available = is_initialized

    def synchronize(self, device: object = None) -> None:
        """Note what is waited for."""
        DONE.append(f"synchronize {device}")

    def device_count(self) -> int:
        """Return the number of devices."""
        return 2

    def memory_reserved(self, device: int) -> int:
        """Return what the allocator holds of a device."""
        return 0 if device else 2048

    def max_memory_allocated(self, device: int) -> int:
        """Return what was used at most."""
        return 0 if device or not self.used else 1024

    def current_stream(self, _device: int) -> Stream:
        """Return the stream that is used."""
        return Stream(done=True)

    def default_stream(self, _device: int) -> Stream:
        """Return the default stream."""
        return self.stream

    def init(self) -> None:
        """Begin."""
        DONE.append("init")


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    DONE.clear()


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    done = Stream(done=True)
    runtime = SimpleNamespace(
        getDevice=lambda: 1,
        getDeviceProperties=lambda _: {"name": b"NVIDIA H100"},
        getDeviceCount=lambda: 2,
    )
    module = SimpleNamespace(
        ndarray=CupyArray,
        cuda=SimpleNamespace(
            Device=Device,
            Stream=SimpleNamespace(null=done),
            get_current_stream=lambda: Stream(done=True),
            runtime=runtime,
        ),
        get_default_memory_pool=lambda: SimpleNamespace(total_bytes=lambda: 512),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def torch_with(monkeypatch: pytest.MonkeyPatch, cuda: Cuda) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, cuda=cuda))


def wait(value: object) -> list[str]:
    unfinished.wait(value)
    return DONE


def test_arrays_of_cupy_are_waited_for_and_other_work_is_found(cupy: Any) -> None:
    assert wait({"a": [CupyArray(), 1.0]}) == ["device 1"]
    unfinished.refuse_unknown([CupyArray()])
    looking = unfinished.Pending()
    looking.refuse()
    cupy.cuda.Stream.null.done = False
    with pytest.raises(unfinished.UnfinishedError, match="gpu_unfinished"):
        looking.refuse()


def test_work_of_cupy_in_any_stream_is_waited_for_where_a_number_is_returned(cupy: Any) -> None:
    assert wait(1.0) == ["device 0"]
    DONE.clear()
    cupy.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=lambda: 0)
    assert wait(1.0) == [], "no GPU was used"


def test_arrays_of_numba_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class DeviceArray:
        """An array of Numba on a GPU."""

    context = SimpleNamespace(_device=SimpleNamespace(primary_context=object()))
    event = SimpleNamespace(record=list, query=lambda: False)
    cuda = SimpleNamespace(
        synchronize=lambda: DONE.append("synchronize"), event=lambda **_: event, gpus=[context]
    )
    arrays = SimpleNamespace(DeviceNDArrayBase=DeviceArray)
    devices = SimpleNamespace(gpus=SimpleNamespace(lst=[context]))
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setitem(sys.modules, "numba.cuda.cudadrv.devicearray", arrays)
    monkeypatch.setitem(sys.modules, "numba.cuda.cudadrv.devices", devices)
    assert wait([DeviceArray()]) == ["synchronize"]
    assert backend.has_used_gpu()
    with pytest.raises(unfinished.UnfinishedError, match="gpu_unfinished"):
        unfinished.Pending().refuse()


def test_all_streams_of_torchs_devices_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    torch_with(monkeypatch, Cuda(used=True))
    assert wait([Tensor(1), {"a": Tensor(0)}]) == ["synchronize 0", "synchronize 1"]
    DONE.clear()
    assert wait(1.0) == ["synchronize None"]  # numbers of the host, of a function on a GPU
    DONE.clear()
    one = Tensor(0)
    one.device = "cuda:0"  # type: ignore[assignment] # as a real one, it can be hashed
    of_torch.wait([one])
    assert DONE.pop() == "synchronize cuda:0"
    torch_with(monkeypatch, Cuda(used=False))
    assert unfinished._waiters(1.0) == []


def test_a_stream_of_torch_that_is_not_done_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    torch_with(monkeypatch, Cuda(used=True, done=False))
    with pytest.raises(unfinished.UnfinishedError, match="gpu_unfinished"):
        unfinished.Pending().refuse()
    torch_with(monkeypatch, Cuda(used=False, done=False))
    unfinished.Pending().refuse()


def test_a_tensor_of_a_device_that_nobody_knows_is_opaque(monkeypatch: pytest.MonkeyPatch) -> None:
    torch_with(monkeypatch, Cuda(used=False))
    with pytest.raises(unfinished.UnfinishedError, match="opaque_result"):
        unfinished.refuse_unknown([Tensor(kind="xla")])


def test_a_function_that_returns_numbers_of_the_host_has_used_the_gpu(
    monkeypatch: pytest.MonkeyPatch, cupy: Any
) -> None:
    assert backend.has_used_gpu()
    made = backend.UserFunction("gpu")
    assert made.device_info()["kind"] == "NVIDIA H100"
    cupy.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=lambda: 0)
    torch_with(monkeypatch, Cuda(used=False))
    assert not backend.has_used_gpu()
    torch_with(monkeypatch, Cuda(used=True))
    assert backend.has_used_gpu()
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: {"num_allocs": 3})
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=lambda: [device]))
    bridge = SimpleNamespace(_backends={"cuda": object()})
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", bridge)
    assert backend.has_used_gpu()
    bridge._backends = {}
    assert not backend.has_used_gpu()


def test_jax_without_a_device_beside_torch_with_one_is_no_obstacle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> None:
        raise RuntimeError("no platform")

    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=none))
    torch_with(monkeypatch, Cuda(used=True))
    backend.UserFunction("gpu").device_init()
    assert DONE == ["init", "synchronize None"]
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(DeviceUnavailableError):
        backend.UserFunction("gpu").device_init()


def variables(tmp_path: Path, device: str, base: dict[str, str]) -> dict[str, str]:
    return isolation.process_variables(
        base,
        candidates.BACKEND,
        device=device,
        threads=None,
        mode="cold_process_cold_cache",
        root=tmp_path,
        mark="mark",
        deterministic=False,
    )


def test_candidates_share_the_memory_of_a_gpu_unless_the_user_says_how(tmp_path: Path) -> None:
    name, older = "XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"
    assert variables(tmp_path, "gpu", {})[name] == "0.2"
    assert name not in variables(tmp_path, "cpu", {})
    own = variables(tmp_path, "gpu", {older: "0.7"})
    assert (name in own, own[older]) == (False, "0.7")


@pytest.mark.parametrize("there", [False, True])
def test_looks_share_no_gpu(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:  # noqa: FBT001 - a parameter of the test
    pools: list[int] = []

    class Pool(ThreadPoolExecutor):
        """A pool that tells how many it runs at once."""

        def __init__(self, workers: int) -> None:
            """Tell it."""
            pools.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(environment, "gpu_may_be_used", lambda: there)
    monkeypatch.setattr(candidates, "ThreadPoolExecutor", Pool)
    candidates.inspect([], None)  # type: ignore[arg-type] # nobody is inspected
    assert pools == [1 if there else 2]


def test_a_gpu_that_the_environment_hides_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not environment.gpu_may_be_used(tmp_path)
    (tmp_path / "nvidia0").touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert environment.gpu_may_be_used(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert not environment.gpu_may_be_used(tmp_path)


def test_torch_compile_on_a_gpu_needs_a_c_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert TorchCompile.programs("gpu") == ("gcc",)
    (tmp_path / "clang").write_text("#!/bin/sh\n")
    (tmp_path / "clang").chmod(0o755)
    assert TorchCompile.programs("gpu") == ("clang",)
    monkeypatch.setenv("CC", "cc -m64")
    assert TorchCompile.programs("gpu") == ("cc",)


def test_the_newest_ptxas_of_that_name_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Triton brings a newer ``ptxas-blackwell`` beside an older ``ptxas``."""
    versions = {
        "triton/backends/nvidia/bin/ptxas-blackwell": "13.1.10",
        "triton/backends/nvidia/bin/ptxas": "12.8.90",
        "nvidia/cuda_nvcc/bin/ptxas": "12.9.1",
        "path/ptxas": "12.0.1",
    }
    for name, version in versions.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\necho 'release {version[:4]}, V{version}'\n")
        file.chmod(0o755)
    for package in ("triton", "nvidia"):
        (tmp_path / package / "__init__.py").touch()
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    first = environment.ptxas_search_path(os.environ["PATH"]).split(os.pathsep)[0]
    assert first == str(tmp_path / "nvidia/cuda_nvcc/bin")
    assert all(file.name == "ptxas" for _, file in environment._ptxas_files())
