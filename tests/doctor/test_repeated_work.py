"""What is done again though nothing it is made of changed, or grows: with innocents beside each."""

from __future__ import annotations

import textwrap

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen


def named(text: str, line: int, seconds: float = 2.0) -> list[tuple[str, int]]:
    """Return what is found where a line, and the call of a function below, took so long."""
    found = seen(textwrap.dedent(text).lstrip(), looks=[(line, "", seconds)])
    return [(one.pattern, one.line) for one in found]


@pytest.mark.parametrize(
    ("text", "line", "is_named"),
    [
        ("for x in xs:\n    out = torch.cat([out, x[None]])\n", 2, True),
        ("for x in xs:\n    self.seen = torch.hstack((self.seen, x))\n", 2, True),
        ("for x in xs:\n    out = torch.cat([x, other])\n", 2, False),
        ("out = torch.cat([out, x])\n", 1, False),
    ],
)
def test_a_tensor_that_grows_is_named(text: str, line: int, *, is_named: bool) -> None:
    assert named(text, line) == [("tensor-grows", line)] * is_named
    assert named(text, line, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "line", "is_named"),
    [
        ("for x in xs:\n    gc.collect()\n", 2, True),
        ("gc.collect()\n", 1, False),
        ("for x in xs:\n    self.collect()\n", 2, False),
    ],
)
def test_garbage_that_is_collected_in_a_loop_is_named(
    text: str, line: int, *, is_named: bool
) -> None:
    assert named(text, line) == [("collected-in-loop", line)] * is_named
    assert named(text, line, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "line", "pattern"),
    [
        (
            """
            for m in range(n):
                (row,) = torch.autograd.grad(residual[m], params, retain_graph=True)
            """,
            2,
            "gradient-per-row",
        ),
        (
            """
            for m in range(3):
                (row,) = torch.autograd.grad(residual[m], params, retain_graph=True)
            """,
            2,
            "",
        ),
        (
            """
            for x in xs:
                state = cell(x, state)
                loss = (state ** 2).sum()
                loss.backward(retain_graph=True)
            """,
            4,
            "graph-kept",
        ),
        (
            """
            for x in xs:
                loss = one(x)
                loss.backward(retain_graph=True)
                two(x).backward()
            """,
            3,
            "",  # the second pass goes through the same graph
        ),
        ("J = torch.autograd.functional.jacobian(f, x)\n", 1, "gradient-per-row"),
        ("from torch.autograd.functional import hessian\nhessian(f, x)\n", 2, "gradient-per-row"),
        ("J = torch.autograd.functional.jacobian(f, x, vectorize=True)\n", 1, ""),
        ("J = jacobian(f, x)\n", 1, ""),
        ("for loss in losses:\n    loss.backward(retain_graph=True)\n", 2, ""),
        ("for v in vs:\n    y.backward(v, retain_graph=True)\n", 2, ""),
        ("for x in xs:\n    loss = f(x)\n    loss.backward()\n", 3, ""),
    ],
)
def test_graphs_that_are_kept_are_named(text: str, line: int, pattern: str) -> None:
    assert named(text, line) == ([(pattern, line)] if pattern else [])


OBJECT = """
class Field:
    def __init__(self, cov, n):
        self.cov = {made}

    def draw(self, mean):
        return MultivariateNormal(mean, covariance_matrix=self.cov){used}

for k in range(n):
    field.draw(mean)
"""


def of_object(made: str, used: str = "", more: str = "") -> list[tuple[str, int]]:
    text = OBJECT.format(made=made, used=used).lstrip() + more
    spent = journals.looks(0.0, ((FILE, 6), "", 2.0))
    spent[0]["stack"] = [[FILE, 6, "Field.draw"], [FILE, 9, "<module>"]]
    return [(one.pattern, one.line) for one in seen(text, more=spent)]


def test_what_is_computed_anew_from_what_is_kept_is_named() -> None:
    assert of_object("cov + 1e-6 * torch.eye(n)") == [("constant-recomputed", 6)]
    assert of_object("cov") == [("constant-recomputed", 6)]


@pytest.mark.parametrize(
    ("made", "more"),
    [
        ("torch.nn.Parameter(cov)", ""),
        ("cov", "opt = torch.optim.Adam([cov])\n"),  # it may change what is given in place
        ("cov", "field.cov = other\n"),
        ("cov", "field.cov.copy_(other)\n"),
        ("cov", "field.cov[0] = 1.0\n"),
    ],
)
def test_what_may_change_is_not_named(made: str, more: str) -> None:
    assert of_object(made, more=more) == []


FILLING = """\
def fill(out, y):
    out[0] += y
K = made()
for y in ys:
    fill({given}, y)
    a = torch.linalg.cholesky(K)
"""


@pytest.mark.parametrize(
    ("text", "line", "is_named"),
    [
        ("def f(K):\n    for y in ys:\n        a = torch.linalg.cholesky(K)\n", 3, True),
        ("def f(K):\n    for y in ys:\n        K = K + y\n        a = torch.inv(K)\n", 4, False),
        ("def f(K):\n    for y in ys:\n        K[0] = y\n        a = torch.inv(K)\n", 4, False),
        ("for y in ys:\n    a = torch.linalg.cholesky(made(y))\n", 2, False),
        ("for y in ys:\n    K = torch.randn(n, n)\n    a = torch.linalg.qr(K)\n", 3, False),
        ("def f():\n    for y in ys:\n        K = torch.rand(n)\n        torch.qr(K)\n", 4, False),
        ("for y in ys:\n    a = torch.linalg.cholesky(y)\n", 2, False),
        ("K = made()\nfor y in ys:\n    a = torch.linalg.cholesky(K)\n", 3, True),
        ("for y in ys:\n    a = np.linalg.inv(K)\n", 2, False),  # no work of a framework's
        ("K = made()\nfor y in ys:\n    a = K.to_sparse_csr() @ y\n", 3, True),
        ("def f(K):\n    for y in ys:\n        K = g(K)\n        a = K.coalesce()\n", 4, False),
        (FILLING.format(given="K.data"), 6, False),
        (FILLING.format(given="K"), 6, False),
        (FILLING.format(given="y"), 6, True),
    ],
)
def test_factors_of_what_a_loop_does_not_change_are_named(
    text: str, line: int, *, is_named: bool
) -> None:
    assert named(text, line) == [("constant-recomputed", line)] * is_named


PAIR = """
value = jax.jit(cost)
slope = jax.jit(jax.grad(cost))
for k in range(n):
    {body}
"""


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        ("seen.append(value(x, y))\n    g = slope(x, y)\n    x = x - g", True),
        ("g = slope(x, y)\n    x = x - g\n    seen.append(value(x, y))", False),
        ("g = slope(x, y)\n    if k % 9 == 0: seen.append(value(x, y))\n    x = x - g", False),
        ("g = slope(x, z)\n    seen.append(value(x, y))", False),
    ],
)
def test_a_value_beside_its_gradient_is_named(body: str, *, is_named: bool) -> None:
    text = PAIR.format(body=body).lstrip()
    lines = [number for number, row in enumerate(text.split("\n"), 1) if "value(x" in row]
    found = named(text, lines[0])
    assert found == [("value-and-gradient", lines[0])] * is_named


PRODUCT = """
@jax.jit
def curved(w, v, data):
    return jax.hessian(loss)(w, data) @ v

curved(w, v, data)
"""


@pytest.mark.parametrize(("size", "is_named"), [("f32[720]", True), ("f32[3]", False)])
def test_a_whole_matrix_for_one_product_is_named(size: str, *, is_named: bool) -> None:
    arguments = {"w": size, "v": size, "data": "f32[1000,720]"}
    call = journals.call(
        1,
        stack=[[FILE, 5, "<module>"]],
        function={"name": "curved", "path": FILE, "line": 1, "whose": "user"},
        signature={"arguments": arguments, "static": {}},
    )
    more = [
        call,
        journals.stage(1, 0.0, {"compile": 0.1}),
        *journals.looks(0.0, ((FILE, 3), "", 0.01)),
    ]
    found = [one for one in seen(PRODUCT.lstrip(), more=more) if one.pattern != "no-donation"]
    assert [(one.pattern, one.line) for one in found] == [("matrix-for-product", 3)] * is_named
