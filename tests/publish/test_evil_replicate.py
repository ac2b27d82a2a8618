"""Snapshots whose maker wants code of his to run at the reader's: what is installed and run."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from packaging.markers import default_environment
from tests.faults import lab
from tests.publish.offered import Quiet, wheel
from tests.publish.test_replicate import sleeping_site

from coldwarm.contracts.reasons import RefusedError
from coldwarm.publish import layout, lock, replicate
from coldwarm.publish.lock import read_pins as pinned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.publish.conftest import Call

MARKERS = {name: str(value) for name, value in default_environment().items()}


class Shop:
    """A package index of the reader's own, and a snapshot whose lock asks for things of it."""

    def __init__(self, folder: Path) -> None:
        """Begin with an empty index."""
        self.index, self.snapshot = folder / "index" / "simple", folder / "s1"
        self.index.mkdir(parents=True)
        self.snapshot.mkdir()
        self.ran = folder / "ran"
        self.folder = folder
        self.locked: dict[str, str] = {}
        self.pins: list[str] = []

    def put(self, file: str, data: bytes) -> None:
        """Offer a file; sorts by the name of its distribution."""
        name = file.partition("-")[0].replace("_", "-")
        (self.index / name).mkdir(exist_ok=True)
        (self.index / name / file).write_bytes(data)
        links = [one.name for one in (self.index / name).iterdir() if one.suffix != ".html"]
        page = "".join(f'<a href="{one}">{one}</a>' for one in links)
        (self.index / name / "index.html").write_text(page)

    def offer(self, name: str, requires: Sequence[str] = (), **more: str) -> bytes:
        """Offer a wheel, and put it into the lock with its hash."""
        data = wheel(name, "1.0", requires, **more)
        self.put(f"{name}-1.0-py3-none-any.whl", data)
        self.lock(name, hashlib.sha256(data).hexdigest())
        return data

    def lock(self, name: str, sha256: str | None, more: str = "") -> None:
        """Put a distribution into the lock."""
        self.pins.append(f"{name.replace('_', '-')}==1.0")
        if sha256 is not None:
            file = f"{name}-1.0-py3-none-any.whl"
            self.locked[name] = (
                f'[[packages]]\nname = "{name.replace("_", "-")}"\nversion = "1.0"\n{more}'
                f'wheels = [{{name = "{file}", url = "https://evil.example/{file}",'
                f' hashes = {{sha256 = "{sha256}"}}}}]\n'
            )

    def write(self) -> None:
        """Write lock and pins into the snapshot."""
        head = 'lock-version = "1.0"\ncreated-by = "coldwarm"\n'
        text = head + ("".join(self.locked.values()) or "packages = []\n")
        (self.snapshot / layout.LOCK).write_text(text)
        (self.snapshot / layout.PINS).write_text("\n".join(self.pins) + "\n")

    def fetch(self, *roots: str) -> list[str]:
        """Fetch what is needed; return the names. Nothing of it may run."""
        self.write()
        place = self.folder / "wheels"
        get = ["download", "--dest", str(place)]
        chosen = lock.fetch_needed(
            {lock.Required(one) for one in roots},
            lock.read_pins(self.snapshot),
            MARKERS,
            place,
            lambda level: replicate._pip(sys.executable, self.folder, level, get),
        )
        assert not self.ran.exists()
        assert {one.name.partition("-")[0] for one in place.iterdir()} == {
            one.name.replace("-", "_") for one in chosen
        }
        return [one.name for one in chosen]

    def refused(self, *roots: str) -> str:
        """Return the code with which fetching is refused. Nothing of it may run."""
        with pytest.raises(RefusedError) as refused:
            self.fetch(*roots)
        assert not self.ran.exists()
        return refused.value.reason.code

    @property
    def evil(self) -> str:
        """A line of Python that leaves a trace."""
        return f"import pathlib; pathlib.Path({str(self.ran)!r}).touch()\n"

    def sdist(self, name: str) -> bytes:
        """Return a source archive whose setup.py leaves a trace."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            data = (self.evil + "from setuptools import setup; setup()\n").encode()
            entry = tarfile.TarInfo(f"{name}-1.0/setup.py")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        return buffer.getvalue()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A reader with an index of his own, as pip is set up for it."""
    made = Shop(tmp_path)
    handler = partial(Quiet, directory=str(made.index.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple")
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_what_is_needed_is_fetched_and_by_its_hash(shop: Shop) -> None:
    """GIVEN a lock with an evil wheel that nothing requires THEN it is not even asked for."""
    shop.offer("numpy", ["tiny>=0.5; python_version >= '3'", "never; python_version < '3'"])
    shop.offer("tiny", ["numpy", "extra_thing; extra == 'all'"])
    shop.offer("never")
    shop.offer("extra_thing")
    shop.offer("evil", pth=shop.evil)
    assert shop.fetch("numpy") == ["numpy", "tiny"]


def test_what_an_extra_requires_is_needed_where_it_is_asked_for(shop: Shop) -> None:
    shop.offer("numpy", ["tiny[fast]"])
    shop.offer("tiny", ["speed; extra == 'fast'", "other; extra == 'slow'"])
    shop.offer("speed")
    shop.offer("other")
    assert shop.fetch("numpy") == ["numpy", "speed", "tiny"]


def test_what_the_maker_did_not_have_is_left_out(shop: Shop) -> None:
    shop.offer("numpy", ["absent"])
    assert shop.fetch("numpy") == ["numpy"]


@pytest.mark.parametrize(
    "where", ["other bytes of that name", "a wheel of another package", "an older version"]
)
def test_a_hash_of_another_file_is_not_installed(shop: Shop, where: str) -> None:
    """Confusion of any kind: the reader's index has numpy, the hash is that of something else."""
    theirs = shop.offer("numpy")
    other = {
        "other bytes of that name": wheel("numpy", pth=shop.evil),
        "a wheel of another package": wheel("evil", pth=shop.evil),
        "an older version": wheel("numpy", "0.9"),
    }[where]
    shop.put("evil-1.0-py3-none-any.whl", other)
    shop.lock("numpy", hashlib.sha256(other).hexdigest())
    shop.pins.pop()
    assert theirs != other
    assert shop.refused("numpy") == "environment_failed"


def test_a_name_of_a_private_package_that_somebody_took_elsewhere(shop: Shop) -> None:
    """GIVEN the maker's acme-tools by its hash WHEN the reader's index has another THEN refused."""
    makers = wheel("acme_tools")
    shop.put("acme_tools-1.0-py3-none-any.whl", wheel("acme_tools", pth=shop.evil))
    shop.lock("acme_tools", hashlib.sha256(makers).hexdigest())
    assert shop.refused("acme-tools") == "environment_failed"


def test_a_source_archive_is_not_built(shop: Shop) -> None:
    """GIVEN an index that has the sources alone, with that hash THEN setup.py does not run."""
    data = shop.sdist("numpy")
    shop.put("numpy-1.0.tar.gz", data)
    shop.lock("numpy", hashlib.sha256(data).hexdigest())
    assert shop.refused("numpy") == "environment_failed"


def test_an_address_in_what_a_wheel_requires_is_not_followed(shop: Shop) -> None:
    (shop.folder / "bait-1.0.tar.gz").write_bytes(shop.sdist("bait"))
    shop.offer("numpy", [f"bait @ file://{shop.folder}/bait-1.0.tar.gz", "tiny"])
    shop.offer("tiny")
    assert shop.fetch("numpy") == ["numpy", "tiny"]


def test_what_the_harness_of_the_snapshot_requires_is_names_alone(shop: Shop) -> None:
    data = wheel("coldwarm", requires=["evil @ https://evil.example/x.whl", "numpy>=2"])
    assert lock.required(data, MARKERS) == {
        lock.Required("evil"),
        lock.Required("numpy"),
    }
    for other in (wheel("coldwarm", says="evil"), b"no archive", wheel("evil")):
        with pytest.raises(RefusedError):
            lock.required(other, MARKERS)


def test_a_wheel_that_says_it_is_another_is_refused(shop: Shop) -> None:
    shop.offer("numpy", says="evil")
    assert shop.refused("numpy") in {"environment_failed", "no_such_wheel"}


def test_pins_without_a_hash_are_refused_by_their_names(shop: Shop) -> None:
    shop.offer("numpy", ["tiny"])
    shop.put("tiny-1.0-py3-none-any.whl", wheel("tiny"))
    shop.lock("tiny", None)
    shop.write()
    with pytest.raises(RefusedError) as refused:
        shop.fetch("numpy")
    assert refused.value.reason.code == "not_hashed"
    assert refused.value.reason.values["package_names"] == ["tiny 1.0"]


PINS = {
    "address": "numpy @ https://evil.example/numpy-1.0-py3-none-any.whl",
    "repository": "numpy @ git+https://evil.example/numpy",
    "editable": "-e git+https://evil.example/numpy#egg=numpy",
    "local path": "./numpy-1.0-py3-none-any.whl",
    "path above": "../../../tmp/evil",
    "file address": "file:///tmp/evil.whl",
    "other index": "--index-url https://evil.example/simple",
    "further index": "--extra-index-url https://evil.example/simple",
    "trusted host": "--trusted-host evil.example",
    "find links": "--find-links https://evil.example/",
    "another file": "-r /etc/passwd",
    "constraints": "-c https://evil.example/c.txt",
    "build options": "numpy==1.0 --global-option=--evil",
    "marker": "numpy==1.0; python_version >= '3'",
    "name with a path": "../numpy==1.0",
    "name with a slash": "a/b==1.0",
    "name with a backslash": "..\\evil==1.0",
    "any version": "numpy",
    "a range": "numpy>=1.0",
    "wildcard": "numpy==1.*",
    "twice": "numpy==1.0\nnumpy==2.0",
    "twice, written otherwise": "my_pkg==1.0\nmy-pkg==1.0",
    "continued": "numpy==1.0 \\\n--index-url=https://evil.example",
}


@pytest.mark.parametrize("line", PINS.values(), ids=PINS)
def test_a_pin_is_a_name_and_a_version_and_nothing_else(shop: Shop, line: str) -> None:
    shop.pins = line.splitlines()
    assert shop.refused("numpy") == "lock_not_plain"


LOCKS = {
    "repository": 'vcs = {type = "git", url = "https://evil.example/x", commit-id = "a"}\n',
    "local folder": 'directory = {path = "../evil"}\n',
    "archive": 'archive = {url = "https://evil.example/x.zip", hashes = {sha256 = "aa"}}\n',
    "sources beside": 'sdist = {url = "https://evil.example/numpy-1.0.tar.gz",'
    ' hashes = {sha256 = "aa"}}\n',
    "marker": "marker = \"python_version >= '3'\"\n",
    "other index": 'index = "https://evil.example/simple"\n',
}


@pytest.mark.parametrize("more", LOCKS.values(), ids=LOCKS)
def test_an_entry_of_a_lock_is_wheels_with_hashes_and_nothing_else(shop: Shop, more: str) -> None:
    shop.lock("numpy", hashlib.sha256(shop.offer("tiny")).hexdigest(), more)
    assert shop.refused("numpy") == "lock_not_plain"


@pytest.mark.parametrize(
    "sha256", ["", "md5", "0" * 63, "A" * 64, "0" * 64 + " --index-url=https://evil.example"]
)
def test_a_hash_is_one(shop: Shop, sha256: str) -> None:
    shop.lock("numpy", sha256)
    assert shop.refused("numpy") == "lock_not_plain"


def test_what_is_locked_and_not_pinned_is_refused(shop: Shop) -> None:
    shop.offer("numpy")
    shop.offer("evil", pth=shop.evil)
    shop.pins.remove("evil==1.0")
    assert shop.refused("numpy") == "lock_not_plain"


@pytest.mark.parametrize("text", ["", "no TOML [", "packages = 3", "[[packages]]\nname = 1\n"])
def test_a_lock_that_is_none(shop: Shop, text: str) -> None:
    shop.offer("numpy")
    shop.write()
    (shop.snapshot / layout.LOCK).write_text(text)
    with pytest.raises(RefusedError) as refused:
        pinned(shop.snapshot)
    assert refused.value.reason.code == "lock_not_plain"


def test_an_environment_has_what_is_needed_and_nothing_besides(shop: Shop) -> None:
    """GIVEN a whole lock THEN its names are shown before, and the evil wheel is not installed."""
    shop.offer("numpy", ["tiny"])
    shop.offer("tiny")
    shop.offer("evil", pth=shop.evil)
    shop.write()
    harness = replicate._ReplicaHarness(
        "coldwarm-1.0-py3-none-any.whl", wheel("coldwarm"), "same_sources"
    )
    contents = replicate._Ingredients(pinned(shop.snapshot), harness, {"numpy"})
    told: list[str] = []
    inside, made = replicate._build_environment(
        contents, shop.folder / "e", sys.executable, told.append
    )
    assert made.installed == ["numpy 1.0", "tiny 1.0"]
    assert (
        "installing 2 of the 3 distributions of its lock, by their hash: numpy 1.0, tiny"
        in (told[-1])
    )
    line = [inside, "-m", "pip", "list", "--format=json"]
    listed = subprocess.run(line, capture_output=True, check=True).stdout
    assert {one["name"] for one in json.loads(listed)} - {"pip", "setuptools"} == {
        "coldwarm",
        "numpy",
        "tiny",
    }
    assert not shop.ran.exists()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that could be repeated, with its options."""
    folder = tmp_path_factory.mktemp("sound")
    bench = lab.Lab(folder, [sleeping_site(folder / "site", 0.001)])
    done = bench.run("--backend", "numpy", "--deterministic", "--cache-mode", "warm_process")
    assert done.code == 0, done.err
    return bench.out


@pytest.mark.parametrize("more", [(), ("--with-its-wheel",), ("--keep-environment",)])
def test_nothing_is_installed_without_trust(
    call: Call,
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
) -> None:
    """GIVEN a sound snapshot of somebody THEN names are shown, and no program is started."""
    snapshot = call.create(sound, tmp_path / "s1")
    started: list[object] = []
    monkeypatch.setattr(lock, "required_by_runs", lambda runs: {"numpy"})
    monkeypatch.setattr(replicate, "_run", lambda *given: started.append(given))
    code, _, err = call("replicate", snapshot, "--out", tmp_path / "out", *more)
    assert code == 2
    lines = err.splitlines()
    assert "from its lock, by hash: numpy " in lines[0]
    assert "replicating runs code of whoever made the snapshot" in lines[-1]
    assert "--trust; nothing was installed or run" in lines[-1]
    assert started == []
    assert not (tmp_path / "out").exists()


def test_the_key_beside_a_snapshot_is_no_trust(
    call: Call, sound: Path, tmp_path: Path, keys: tuple[Path, Path]
) -> None:
    snapshot = call.create(sound, tmp_path / "s1")
    assert call("sign", snapshot, "--key", keys[0])[0] == 0
    call.monkeypatch.setattr(lock, "required_by_runs", lambda runs: {"numpy"})
    out = ("--out", tmp_path / "out")
    assert "nothing says who that is" in call("replicate", snapshot, *out)[2]
    code, _, err = call("replicate", snapshot, *out, "--public-key", keys[1])
    assert code == 2
    assert "the lock of the snapshot has no hash of numpy" in err.splitlines()[-1]
    code, _, err = call("replicate", snapshot, *out, "--trust")
    assert "the lock of the snapshot has no hash of numpy" in err.splitlines()[-1]
