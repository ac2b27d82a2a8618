"""Whether a snapshot that was changed is found out, whatever was changed, and by its right name."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.publish import forging
from tests.publish.conftest import Call, openssl, program

from coldwarm.publish import layout, verify
from coldwarm.publish.archive import unpacked
from coldwarm.publish.verify import exit_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.snapshot import Verification

    Keys = tuple[Path, Path]

pytestmark = pytest.mark.slow
COMMITTED = Path(__file__).parents[2] / "docs" / "results"
SIGNATURES = {layout.INDEX, layout.SIGNATURE, layout.PUBLIC_KEY}
"""Files whose damage is one of the signature."""


@pytest.fixture
def snapshot(signed: Path, tmp_path: Path) -> Path:
    """A copy to be changed."""
    return forging.copy(signed, tmp_path / "s1")


@pytest.fixture
def unsigned(snapshot: Path) -> Path:
    """A copy without a signature, as a forger would leave it who has no key."""
    (snapshot / layout.SIGNATURE).unlink()
    (snapshot / layout.PUBLIC_KEY).unlink()
    return snapshot


def found(folder: Path, key: Path | None = None) -> Verification:
    return verify.verify(folder, key).told(folder)


def code(folder: Path, key: Path | None = None) -> int:
    return exit_code(found(folder, key))


def names(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_a_snapshot_holds_and_says_what_was_checked(signed: Path, keys: Keys, call: Call) -> None:
    ended, out, _ = call("verify", signed, "--public-key", keys[1])
    assert ended == 0
    first, *_ = out.splitlines()
    assert first.startswith("No fault found; proved: 15 files and ")
    assert first.endswith("; signed: 11 files")
    assert "2 cases computed again from the raw samples, and what is made of them" in out
    assert "signed by the key that was given" in out
    assert call("verify", signed, "--public-key", keys[1], "--strict")[0] == 0
    ended, out, _ = call("verify", signed)
    assert ended == 0
    first, *_ = out.splitlines()
    assert "; only hashed: 11 files; proved: 15 files and " in first
    assert f"{signed}: s1, " in " ".join(out.split())
    assert "which lies beside it" in " ".join(out.split())
    assert call("verify", signed, "--strict")[0] == 3
    ended, out, _ = call("verify", signed, "--json")
    told = json.loads(out)
    assert (told["holds"], told["n_cases"], told["signature"]) == (True, 2, "unknown_key")
    answers = {one["path"]: one["answer"] for one in told["files"]}
    assert answers["report.html"] == answers["validation_report.pdf"] == "proved"
    assert answers["results/quick/environment.json"] == "only_hashed"


def test_openssl_verifies_the_raw_signature(signed: Path, keys: Keys, tmp_path: Path) -> None:
    assert (signed / layout.SIGNATURE).stat().st_size == 64
    given = ("-rawin", "-in", signed / layout.INDEX, "-sigfile", signed / layout.SIGNATURE)
    done = openssl("pkeyutl", "-verify", "-pubin", "-inkey", keys[1], *given)
    assert (done.returncode, done.stdout.strip()) == (0, "Signature Verified Successfully")
    changed = tmp_path / "index.json"
    changed.write_bytes((signed / layout.INDEX).read_bytes().replace(b"s1", b"s2", 1))
    given = ("-rawin", "-in", changed, "-sigfile", signed / layout.SIGNATURE)
    assert openssl("pkeyutl", "-verify", "-pubin", "-inkey", keys[1], *given).returncode == 1


def test_a_signature_of_openssl_is_verified(snapshot: Path, keys: Keys) -> None:
    given = ("-rawin", "-in", snapshot / layout.INDEX, "-out", snapshot / layout.SIGNATURE)
    assert openssl("pkeyutl", "-sign", "-inkey", keys[0], *given).returncode == 0
    (snapshot / layout.PUBLIC_KEY).unlink()
    assert found(snapshot, keys[1]).signature == "valid"
    assert found(snapshot).signature == "unchecked"


def _flipped(data: bytes, place: int, bit: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 1 << bit
    return bytes(changed)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "its first byte": lambda data: _flipped(data, 0, 0),
    "its last byte": lambda data: _flipped(data, len(data) - 1, 3),
    "cut in half": lambda data: data[: len(data) // 2],
    "one byte shorter": lambda data: data[:-1],
    "one byte longer": lambda data: data + b"\n",
    "empty": lambda _: b"",
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_any_file_is_found_and_named(snapshot: Path, keys: Keys, change: str) -> None:
    for name in names(snapshot):
        file = snapshot / name
        data = file.read_bytes()
        file.write_bytes(CHANGES[change](data))
        told = found(snapshot, keys[1])
        expected = 6 if name in SIGNATURES else 3
        assert (exit_code(told), told.faults[0].path) in {
            (expected, name),
            (6, layout.SIGNATURE if name in SIGNATURES else name),
        }, name
        file.write_bytes(data)
    assert code(snapshot, keys[1]) == 0


def test_a_missing_file_is_found_and_named(snapshot: Path, keys: Keys) -> None:
    for name in names(snapshot):
        if name == layout.PUBLIC_KEY:  # the reader has one
            continue
        file = snapshot / name
        data = file.read_bytes()
        file.unlink()
        told = found(snapshot, keys[1])
        assert exit_code(told) == (6 if name == layout.SIGNATURE else 3), name
        assert told.faults[0].path == name
        file.write_bytes(data)


def test_500_random_flips_are_found(snapshot: Path, keys: Keys) -> None:
    draw = random.Random(11)  # noqa: S311 - not for secrets
    files = names(snapshot)
    missed = []
    for _ in range(500):
        name = draw.choice(files)
        file = snapshot / name
        data = file.read_bytes()
        place, bit = draw.randrange(len(data)), draw.randrange(8)
        file.write_bytes(_flipped(data, place, bit))
        if code(snapshot, keys[1]) not in {3, 6}:
            missed.append((name, place, bit))
        file.write_bytes(data)
    assert missed == []


def test_flips_are_found_without_a_key_of_ones_own(snapshot: Path) -> None:
    draw = random.Random(12)  # noqa: S311 - not for secrets
    for name in names(snapshot):
        file = snapshot / name
        data = file.read_bytes()
        file.write_bytes(_flipped(data, draw.randrange(len(data)), draw.randrange(8)))
        assert code(snapshot) in {3, 6}, name
        file.write_bytes(data)


def test_swapped_files_are_found(snapshot: Path) -> None:
    one, other = sorted((snapshot / "results/quick/cases").glob("*.json"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    told = found(snapshot)
    assert exit_code(told) == 3
    assert told.faults[0].path == one.relative_to(snapshot).as_posix()


@pytest.mark.parametrize(
    "name", ["more.json", "results/quick/cases/more.json", "results/quick/.hidden", "a/b/c.txt"]
)
def test_an_added_file_is_found(snapshot: Path, name: str) -> None:
    (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
    (snapshot / name).write_text("{}")
    told = found(snapshot)
    assert (exit_code(told), told.faults[0].path) == (3, name)


def case_of(folder: Path, part: str = "honest") -> str:
    [file] = (folder / "results/quick/cases").glob(f"{part}*.json")
    return file.relative_to(folder).as_posix()


def _faster(document: Any) -> None:
    for point in ("median", "minimum", "maximum", "low", "high"):
        if document["warm"]["call_s"][point] is not None:
            document["warm"]["call_s"][point] /= 2


def _cold(document: Any) -> None:
    document["cold"][0]["seconds"]["ttfr"]["median"] *= 0.999


def _status(document: Any) -> None:
    document["status"] = "warn"
    document["reason"] = {"code": "stated", "values": {"text": "a reason"}}


def _verdict(document: Any) -> None:
    document["comparisons"][0]["verdict"] = "faster"


def _without_a_process(document: Any) -> None:
    document["observations"].pop()


def _sample(document: Any) -> None:
    one = next(one for one in document["observations"] if one["blocks"])
    one["blocks"][0]["samples_s"][0] /= 3


@pytest.mark.parametrize("change", [_faster, _cold, _status, _verdict, _without_a_process, _sample])
def test_a_case_that_was_edited_with_all_hashes_contradicts_its_samples(
    unsigned: Path, change: forging.Edit
) -> None:
    name = case_of(unsigned)
    forging.edit(unsigned, name, change)
    told = found(unsigned)
    assert (exit_code(told), told.faults[0].kind) == (5, "content")
    assert told.faults[0].path in {name, "results/quick/suite.json"}


def test_an_edit_with_the_hash_of_the_index_alone_is_found(unsigned: Path) -> None:
    file = unsigned / case_of(unsigned)
    document = json.loads(file.read_bytes())
    _faster(document)
    file.write_text(json.dumps(document, indent=2))
    forging.of_index(unsigned)
    assert code(unsigned) == 5


def _of_answer(document: Any) -> None:
    [answer] = document["answers"]
    for one in answer["leads"]:
        one["fastest"] = "honest" if one["fastest"] != "honest" else "numpy"


def _candidates(document: Any) -> None:
    document["answers"][0]["n_processes"] += 1


def _none(document: Any) -> None:
    document["answers"] = []


@pytest.mark.parametrize("change", [_of_answer, _candidates, _none])
def test_an_answer_that_was_edited_with_all_hashes_is_found(
    unsigned: Path, change: forging.Edit
) -> None:
    forging.edit(unsigned, "results/quick/answers.json", change)
    told = found(unsigned)
    assert (exit_code(told), told.faults[0].path) == (5, "results/quick/answers.json")


OTHERS: dict[str, tuple[str, forging.Edit]] = {
    "a figure of the validation report": (
        layout.VALIDATION,
        lambda document: document["figures"][0].update(median_s=1e-9),
    ),
    "a gate of the validation report": (
        layout.VALIDATION,
        lambda document: document["gates"][0].update(passed=False),
    ),
    "the processor of the manifest": (
        layout.MANIFEST,
        lambda document: document["environment"]["runs"]["quick"]["cpu"].update(model="faster"),
    ),
    "the inputs of the manifest": (
        layout.MANIFEST,
        lambda document: document["datasets"][0].update(sha256="0" * 64),
    ),
    "the commit of the index": (
        layout.INDEX,
        lambda document: document["git"].update(sha="0" * 40),
    ),
    "the id of the index": (layout.INDEX, lambda document: document.update(snapshot_id="s2")),
    "the date of the index": (
        layout.INDEX,
        lambda document: document.update(generated_at="2020-01-01T00:00:00+00:00"),
    ),
    "the title for Zenodo": (layout.ZENODO, lambda document: document.update(title="other")),
    "what the crate lists": (layout.CRATE, lambda document: document["@graph"].pop()),
    "a published median": (
        "nextstat/ml_suite.json",
        lambda document: document["cases"][0].update(cold_ttfr_median_s=1e-9),
    ),
    "where it was measured": (
        "results/quick/environment.json",
        lambda document: document["cpu"].update(model="another"),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_else_was_edited_with_all_hashes_contradicts_the_rest(
    unsigned: Path, name: str
) -> None:
    path, change = OTHERS[name]
    forging.edit(unsigned, path, change)
    assert code(unsigned) == 5


def test_what_was_forged_whole_is_found_by_the_signature(snapshot: Path, keys: Keys) -> None:
    forging.edit(snapshot, case_of(snapshot), _faster)
    assert code(snapshot) == 6
    assert code(snapshot, keys[1]) == 6


@pytest.mark.parametrize("version", ["coldwarm.case_result.v1", "coldwarm.suite_result.v2"])
def test_a_downgrade_of_a_schema_is_found(unsigned: Path, version: str) -> None:
    name = case_of(unsigned)
    forging.edit(unsigned, name, lambda document: document.update(schema_version=version))
    told = found(unsigned)
    assert (exit_code(told), told.faults[0].path) == (3, name)


def test_a_downgrade_alone_is_found_too(unsigned: Path) -> None:
    """GIVEN an older version whose fields are all there THEN it is the version that is named."""
    name = "results/quick/environment.json"

    def older(document: Any) -> None:
        document["schema_version"] = "coldwarm.environment.v1"

    forging.edit(unsigned, name, older)
    told = found(unsigned)
    assert (exit_code(told), told.faults[0].path) == (3, name)


def test_the_key_of_another_is_none_of_the_maker(
    snapshot: Path, keys: Keys, tmp_path: Path, call: Call
) -> None:
    other = tmp_path / "other.pem"
    openssl("genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key.pem")
    openssl("pkey", "-in", tmp_path / "key.pem", "-pubout", "-out", other)
    ended, _, err = call("verify", snapshot, "--public-key", other)
    assert ended == 6
    assert "is no signature of this snapshot_index.json by the key that was given" in err
    assert err.count("\n") == 1
    call("sign", snapshot, "--key", tmp_path / "key.pem")
    assert code(snapshot) == 0
    assert code(snapshot, keys[1]) == 6


def test_a_snapshot_without_a_signature_does_not_pass_for_a_signed_one(
    unsigned: Path, keys: Keys
) -> None:
    assert found(unsigned).signature == "absent"
    assert code(unsigned) == 0
    assert code(unsigned, keys[1]) == 6


def test_a_snapshot_that_does_not_hold_is_not_signed(
    unsigned: Path, keys: Keys, call: Call
) -> None:
    (unsigned / layout.VALIDATION).write_text("{}")
    err = call.refused("sign", unsigned, "--key", keys[0], code=3)
    assert f"{layout.VALIDATION}: has 2 bytes" in err
    assert not (unsigned / layout.SIGNATURE).exists()


def test_keys_of_other_kinds_are_refused_in_one_line(
    unsigned: Path, keys: Keys, tmp_path: Path, call: Call
) -> None:
    rsa, locked, none = (tmp_path / name for name in ("rsa.pem", "locked.pem", "none.pem"))
    openssl("genpkey", "-algorithm", "ed448", "-out", rsa)
    openssl("pkey", "-in", keys[0], "-aes256", "-passout", "pass:secret", "-out", locked)
    none.write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    for file, said in (
        (rsa, "another kind than Ed25519"),
        (locked, "has a passphrase"),
        (none, "no private key that can be read"),
        (keys[1], "no private key that can be read"),
        (tmp_path / "absent.pem", "no PEM key that can be read"),
    ):
        assert said in call.refused("sign", unsigned, "--key", file)
        assert not (unsigned / layout.SIGNATURE).exists()
    assert "no public key" in call.refused("verify", unsigned, "--public-key", keys[0])


def test_an_archive_is_verified_as_its_folder_is(signed: Path, keys: Keys, tmp_path: Path) -> None:
    archive = tmp_path / "s1.tar.gz"
    assert program("package", signed, "--out", archive).returncode == 0
    done = program("verify", archive, "--public-key", keys[1])
    assert done.returncode == 0
    assert done.stdout.startswith("No fault found; proved: ")
    assert f"{archive}: s1, " in " ".join(done.stdout.split())


def test_a_folder_that_is_no_snapshot_is_said_to_be_none(tmp_path: Path, call: Call) -> None:
    assert "no snapshot" in call.refused("verify", tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    err = call.refused("verify", tmp_path / "empty", code=3)
    assert "snapshot_index.json: is not there" in err
    shutil.rmtree(tmp_path / "empty")


@pytest.mark.parametrize("archive", sorted(COMMITTED.rglob("*.tar.gz")), ids=lambda path: path.name)
def test_what_was_published_by_earlier_versions_is_not_called_wrong(archive: Path) -> None:
    """GIVEN rules that have changed since THEN what they make otherwise is only hashed."""
    with unpacked(archive) as folder:
        told = found(folder)
    assert told.faults == []
    assert told.n_cases
    assert told.n_figures_proved > 8 * told.n_figures_only_hashed
