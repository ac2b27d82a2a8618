"""The one function that masks: every shape of a secret, and no ordinary text."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.private.planted import SHAPES, Planted, body, shapes

from coldwarm import masking
from coldwarm.contracts.reasons import declared, every_code
from coldwarm.masking import alike, cleaned, masked
from coldwarm.runner import results


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be private but what a test says."""
    monkeypatch.setattr(masking, "_told", set())


@pytest.mark.parametrize("planted", shapes("alone", 100), ids=[*SHAPES, "private key"])
@pytest.mark.parametrize(
    "around", ["{}", "before {} after", "first\n{}\nlast", "E   ValueError: {}", "x={!r}, n=1"]
)
def test_a_secret_is_masked_to_its_end(planted: Planted, around: str) -> None:
    shown = masked(around.format(planted.text))
    assert planted.body not in shown
    assert not any(form in shown.encode() for form in planted.forms), shown
    assert masked(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.d-e", "Authorization: ***"),
        ("curl --token abcdef https://x", "curl --token *** https://x"),
        ('{"token": "a,b;c d", "n": 1}', '{"token": "***", "n": 1}'),
        ("password='it\\'s', n=2", "password='***', n=2"),
        ("password is hunter2", "password is ***"),
        ("X_PWD=foo X_PATH=/a/b", "X_PWD=*** X_PATH=/a/b"),
        ("https://s/x?sig=abc%2F&e=1", "https://s/x?sig=***&e=1"),
        ("postgres://u:p/a@ss@h/db", "postgres://***@h/db"),
        ("https://tok@github.com/x", "https://***@github.com/x"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        ("/home/alice/x.py:12", "~/x.py:12"),
        ("-I/home/alice/inc:/Users/bob/x", "-I~/inc:~/x"),
        ("file:///home/alice/x", "file://~/x"),
        ("C:\\Users\\John Smith\\x", "~\\x"),
        ("~alice/x", "~/x"),
        ("/root/x and /rooted", "~/x and /rooted"),
        ("me@corp.example.com", "***"),
        ("me@host.internal, you@x.io", "***, ***"),
        ("token=SecretStr('hunter2')", "token=***"),
        ("token: hunter", "token: ***"),
        ("the secret is swordfish", "the secret is ***"),
        ("-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY-----\\nx", "***\\nx"),
        ("9xQ\nMII\n-----END RSA PRIVATE KEY-----\nx", "***\nx"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc", "***"),
    ],
)
def test_what_stands_around_a_secret_is_left(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown


ORDINARY = [
    hashlib.sha256(b"x").hexdigest(),
    f"sha256:{hashlib.sha256(b'y').hexdigest()}",
    hashlib.sha1(b"z", usedforsecurity=False).hexdigest(),
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, changed since",
    "jax_jit_cpu_matmul_512_f32",
    "cases/torch_compile_cpu_mlp_train_step_128_f32.json",
    "fit@venv3.11",
    "jax 0.10.2, jaxlib 0.10.2, torch 2.13.0+cpu, triton-3.4.0",
    "f32[512,512]{1,0}",
    "x=f32[512,512], key=u32[2], seed=0",
    "key = jax.random.key(0); jax.random.split(key, num=4)",
    "cache_key=jit_f-6f1ed002ab5595859014ebf0951522d9",
    "PRNGKey(0) and sort(key=len)",
    "KeyError: 'weights'",
    "token=5 max_tokens=512 tokens_per_s: 31.5",
    "time per token: 3 ms",
    "tokenizers 0.22.1, secretstorage 3.3.3, keyring 25.6.0, detect-secrets 1.5.0",
    "distributions.detect-secrets: 1.5.0 became 1.6.0",
    'distributions.detect-secrets: "1.5.0" became "1.6.0"',
    "the password is not set; is the token missing?",
    "pass 2 of 3: bypass=0, compass: 1",
    "author: nobody, authority=none",
    "--xla_gpu_autotune_level=2 --xla_dump_to=/tmp/x --xla_dump_hlo_pass_re=.*",
    "git+https://github.com/org/repo@v1.0",
    "https://github.com:443/org/repo@main",
    "https://docs.jax.dev/en/latest/users/index.html#anchor",
    "Basic Linear Algebra Subprograms; a basic operation",
    "openblas 0.3.31 (blas), 2 threads; libscipy_openblas64_-fdde5778.so",
    "g++ (Debian 12.2.0-14+deb12u1) 12.2.0",
    "2026-11-22T02:05:51+00:00",
    "main, Dec  4 2023, 18:10:11, GCC 12.2.0",
    "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
    "root control group, user time 3 s, the runner",
    "TypeError: add got incompatible shapes for broadcasting: (3,), (4,).",
    'File "/usr/lib/python3.11/site-packages/jax/_src/pjit.py", line 340, in cache_miss',
    "concretization: Array([0, 42], dtype=uint32) with aval uint32[2]",
    "%fusion.3 = f32[128]{0} fusion(f32[128]{0} %param_0), kind=kLoop, calls=%fused",
    "3 hits, 0 misses, 12 requests; n_bypasses=0",
    "task-42, risk-free_rate_2024-x, disk-usage",
    "hf_transfer and npm_lifecycle_event, sk-learn-contrib",
    "ASIAPACIFIC AKIAN",
    "memory 0x7f3a2c001230, id 140234",
    "session of 3 s; signature: f(x, y)",
    "a@b.sum",
    "kv = q@k.transpose",
    "kv = q@k.to(x), q@k.at[0]",
    "token = next(tokens)",
    "token = jnp.sum(next(iter(tokens)), axis=1)",
    "token: tok_sum",
    "the secret is safe",
    "access key col_1",
    "-I/usr/home/x",
    'tokens = tokenizer("hello world1")',
    'x = password_strength("abc123"), ids = tokenize("abc12345")',
    "src/token.py:12, from src.token import Token",
    "def token_embedding(ids, dim=512):",
    'add_tokens(["a1"]) and model.with_token_type("a")',
    'log_info("x"), blog_in("x"), authenticated("x")',
    "set_token_limit(512) set_password_policy('strict')",
    "the second pass:compile; a password for each user is required",
    "rng key used: key<fry>[]",
    "| token | 512 |",
    "identified by its hash",
    "mysql version 8.0 -port 3306",
    'params["token_embedding"] = jnp.ones(3); d["key"] = 3',
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert masked(text) == text


def test_what_coldwarm_says_itself_stays_as_it_is() -> None:
    texts = [
        *(
            text
            for code in every_code()
            for text in (declared(code).sentence, declared(code).advice)
        ),
        *results._WINDOWS.values(),
        results._INTERLEAVING,
    ]
    assert [text for text in texts if masked(text) != text] == []


def test_the_value_of_a_secret_variable_is_masked_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    private = 'A b"c/é+42\nline two 7'
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", private)
    monkeypatch.setenv("MY_PAT", "x9-short")
    monkeypatch.setenv("LEVEL", "not-a-secret-1")
    first = private.splitlines()[0]
    coded = base64.b64encode(first.encode()).decode()
    for shown in (first, repr(first), coded, first.encode().hex(), "at x9-short,"):
        assert "***" in masked(f"failed with {shown}")
    assert masked(f"cut: {first[:8]}") == "cut: ***"
    assert masked("level not-a-secret-1") == "level not-a-secret-1"


SECRET = "wJalr7XUtnFEMI2K7MDENG9bPxRfiCYz"  # noqa: S105 - planted


@pytest.mark.parametrize(
    "shown",
    [
        *("was " + SECRET[:14] + "… in the log", "'" + SECRET[:20] + "...'", "x=" + SECRET[-13:]),
        *(f"{SECRET[:12]}…{SECRET[-12:]} is no file", "cut " + SECRET[:7]),
        *(base64.b64encode(f"{who}:{SECRET}".encode()).decode() for who in ("a", "bo", "eve")),
        base64.urlsafe_b64encode(f"user:{SECRET}, and more".encode()).decode(),
        *(SECRET.encode().hex().upper(), SECRET.encode().hex(), f"<{SECRET}>", f"a{SECRET}b"),
    ],
)
def test_a_known_secret_is_found_cut_and_inside_of_others(
    shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    left = masked(f"it {shown} there" if not shown.startswith("cut") else shown)
    assert "***" in left
    assert not any(SECRET[at : at + 8] in left for at in range(len(SECRET) - 7)), left
    assert len(left) < 48, left


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("UPSTREAM", "amqp://bob:{}@queue.example.com/x"),
        ("PIP_INDEX_URL", "https://{}@pypi.example.com/simple"),
        ("GIT_URL", "see https://bob:{}@a.b/x and https://c.d"),
        ("MIRRORS", "https://a.b/x,https://bob:{}@c.d/y"),
        ("GOOGLE_CREDENTIALS", '{{"type": "service_account", "private_key_id": "{}"}}'),
        ("DOCKER_AUTH_CONFIG", '{{"auths":{{"host":{{"auth":"{}"}}}}}}'),
        ("AWS_CREDS", "AKIA0000:{}"),
        ("SENTRY_DSN", "https://{}@sentry.example.com/3"),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey={};Suffix=b"),
        ("SLACK_WEBHOOK", "https://hooks.example.com/services/T0/{}"),
        ("MYAUTHKEY", "{}"),
    ],
)
def test_what_a_variable_holds_among_others_is_known(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value.format(SECRET))
    assert masked(f"401: {SECRET} was refused") == "401: *** was refused"


@pytest.mark.parametrize(
    "record",
    [
        {"password": SECRET},
        {"values": {"api_key": SECRET, "n": 3}},
        {"name": "secret_key", "kind": "value", "value": SECRET},
        {"name": "password", "kind": "value", "value": 739158264701},
        {"headers": {"Authorization": f"Custom {SECRET}"}},
        {"settings": {"client_secret": "correct horse battery"}},
        {"argv": ["x.py", "--token", SECRET, "--n", "3"]},
        [["curl", "--password", SECRET]],
        {"command": ("x", "--db-password", "two words")},
        {"facts": [{"MY_ACCESS_TOKEN": SECRET}]},
        {"Set-Cookie": SECRET},
    ],
)
def test_a_name_in_a_record_says_that_its_value_is_secret(record: object) -> None:
    shown = str(cleaned(record))
    assert "***" in shown
    assert not any(one in shown for one in (SECRET, "739158264701", "horse", "words"))


@pytest.mark.parametrize(
    "record",
    [
        {"token": "int32[4,128]", "tokens": "i32[8]", "key": "key<fry>[]", "mask": "bool"},
        {"password": "str #ab12cd", "secret": None, "api_key": "***", "token": 3},
        {"distributions": {"secretstorage": "3.3.3", "token-bucket": "0.3.0rc1", "keyring": "25"}},
        {"name": "tokenize", "value": 3},
        {"name": "n_tokens", "value": 512},
        {"function": "password_strength", "file": "src/token.py", "line": 3},
        {"versions": {"tokenizers": "0.22.1", "passlib": "1.7.4", "pytest-secret": "2024.1.post1"}},
        ["--max-tokens", "512", "--tokenizer", "bpe", "src/token.py"],
        {"cache_key": "jit_f-6f1ed002ab5595859014ebf0951522d9", "key": "value"},
        {"code": "key_reused", "signature": "f(x, key)", "session": "one of three"},
        {"case": "tokenize_512_f32", "candidate": "secret_santa", "pattern": "key-reuse"},
        {"text": "the function token_embedding of secrets.py takes a password_hash_fn"},
    ],
)
def test_honest_names_in_a_record_stay_as_they_are(record: object) -> None:
    assert cleaned(record) == record


def test_a_word_that_stands_anywhere_is_no_value_to_search_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DB_PASS", "matmul")
    monkeypatch.setenv("DB_PASSWORD", "20261122")
    monkeypatch.setenv("USER", "runner")
    assert masked("matmul at 20261122 by the runner") == "matmul at 20261122 by the runner"


def test_the_user_and_the_machine_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "alicesmith")
    monkeypatch.setenv("HOSTNAME", "acme-lab7.corp")
    monkeypatch.setenv("HOME", "/data/people/alicesmith")
    text = "alicesmith on acme-lab7: /scratch/alicesmith/x, /data/people/alicesmith/y"
    assert masked(text) == "*** on ***: /scratch/***/x, ~/y"


def test_two_secrets_stay_two_entries_and_figures_stay_figures() -> None:
    record = {f"ghp_{body(n)}": [1.5, None, True, n] for n in (1, 2)}
    assert list(cleaned(record).values()) == list(record.values())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*SHAPES, *ORDINARY, "\n", " ", "'", '"', "\\"]), max_size=6))
def test_masking_again_changes_nothing(parts: list[str]) -> None:
    text = "".join(part.replace("{}", body(7)) for part in parts)
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "unit",
    ["-", "a", "a.", "--a", "token", "token_", "'", '\\"', "/home", "/a", "a@", "a:", "://a:",
     "password=", "password='", "Bearer ", "login(", "set_token('", "docker login ",
     "password for a", "-----BEGIN ", "eyJ", "sk-", "?", "A_", "key.key_"],
)  # fmt: skip
def test_time_grows_with_the_length_of_a_text(unit: str) -> None:
    def seconds(length: int, enough: float = 0.0) -> float:
        """Return the best of three, or of as many as it takes to be quick enough."""
        best = float("inf")
        for n in range(3):
            text = f"{n} PRIVATE KEY @ token " + unit * (length // len(unit))
            began = time.perf_counter()
            masked(text)
            best = min(best, time.perf_counter() - began)
            if best < enough:
                break
        return best

    masked("token ghp_abcd1234 0123456789abcdefX")  # the patterns are made once
    allowed = 24 * seconds(8_000) + 0.3  # 64 times would be the square
    assert seconds(64_000, enough=allowed) < allowed


def test_nothing_of_it_is_loaded_at_the_start() -> None:
    code = "import sys, coldwarm.cli.main, coldwarm.cli.run\n"
    code += "print({'detect_secrets', 'coldwarm.secret_patterns'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "secret", [hashlib.sha1(b"k", usedforsecurity=False).hexdigest(), "correcthorsebatterystaple"]
)
def test_a_known_secret_of_ordinary_letters_is_masked_where_it_is_the_whole_text(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", secret)
    assert masked(secret) == "***"
    assert secret not in str(cleaned({"label": secret, secret: [secret], "case": secret}))


@pytest.mark.parametrize("name", ["block", "round", "make", "nextstat", "json", "coldwarm.v1"])
def test_the_words_of_a_record_are_not_taken_for_the_name_of_a_user(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", name)
    record = {
        "schema_version": "nextstat.ml_benchmark_result.v1",
        "order": ["numpy_cpu_f_1_f32 block", "numpy_cpu_f_1_f32 make", "x cold round 1"],
        "cases": [{"case": "f", "path": "cases/f.json"}],
        "seconds": {"block.round": 1.0},
    }
    assert cleaned(record) == record
    assert cleaned({"stderr_tail": f"by {name}."}) == {"stderr_tail": "by ***."}


def test_texts_that_were_masked_differently_are_alike() -> None:
    assert alike("by alice in /x/y", "by *** in ~/y")
    assert alike("a *** b bob", "a alice b ***") is False
    assert not alike("by alice", "by bob")
    assert not alike("1", "2")


@pytest.mark.parametrize(
    ("word", "secret"),
    [("--password", True), ("-token", True), ("password", False), ("-p", False), ("--size", False)],
)
def test_a_secret_stands_behind_an_option_and_behind_no_other_word(
    word: str, *, secret: bool
) -> None:
    assert masking.is_secret_option(word) is secret
    assert cleaned(["run", word, "plain words"])[2] == ("***" if secret else "plain words")
