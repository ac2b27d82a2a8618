"""Keep values as tensors in what `torch.compile` compiles: `.item()` breaks the graph."""

FRAMEWORK = "torch"
MEASURES = "facts"
SYMPTOM = "more graphs than functions, and time in Python between kernels"
MECHANISM = """
Where Dynamo meets what it cannot put into a graph, such as a branch on a tensor's value, it ends
the graph, lets Python go on, and begins another. Each is compiled and called for itself, and
nothing is fused across the break.
"""
EXCEPTION = """
A break outside of the hot part, at a log for every epoch say, costs nothing that matters.
`fullgraph=True` turns every break into an error, where there must be none.
"""
DOCS = (
    "https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.fullgraph_true.html",
    "https://docs.pytorch.org/docs/stable/compile/programming_model.fullgraph_false.html",
)
STATED = "The clipping step is one graph with `torch.where`, and two or more with an `if` on a \
tensor's value; both give the same."
SECONDS = 60.0


def do():
    """Clip by the norm with `torch.where`."""
    import torch
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()  # compiles as Dynamo does, and runs each graph as it is

    @torch.compile(backend=counter)
    def clipped(grad):
        norm = torch.linalg.vector_norm(grad)
        return torch.where(norm > 1.0, grad / norm, grad) * 0.1

    grad = torch.linspace(-1.0, 1.0, 100)
    results = [clipped(grad) for _ in range(3)]
    return {"graphs": counter.frame_count, "sum": float(results[-1].abs().sum())}


def dont():
    """Clip by the norm with an `if`."""
    import torch
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()  # compiles as Dynamo does, and runs each graph as it is

    @torch.compile(backend=counter)
    def clipped(grad):
        norm = torch.linalg.vector_norm(grad)
        if norm.item() > 1.0:
            grad = grad / norm
        return grad * 0.1

    grad = torch.linspace(-1.0, 1.0, 100)
    results = [clipped(grad) for _ in range(3)]
    return {"graphs": counter.frame_count, "sum": float(results[-1].abs().sum())}


def holds(do, dont):
    """Say whether the `if` has broken one graph into several, for the same result."""
    same = abs(do["sum"] - dont["sum"]) < 1e-4
    return same and do["graphs"] == 1 and dont["graphs"] >= 2
