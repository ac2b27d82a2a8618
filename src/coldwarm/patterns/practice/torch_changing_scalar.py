"""Keep a number that changes in a tensor, not in an attribute of a module that is compiled."""

FRAMEWORK = "torch"
MEASURES = "facts"
SYMPTOM = "torch.compile warns that it hit its limit of recompilations"
MECHANISM = """
An integer attribute of a module is taken for a constant and guarded by its value, so each new value
compiles again, until after eight the function is run uncompiled. A tensor is an input, whatever is
in it.
"""
EXCEPTION = """
A number that is passed as an argument is made dynamic after its second value, and costs one more
compilation at most. An attribute that decides on structure is better a constant.
"""
DOCS = (
    "https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html",
)
STATED = "Six calls compile one graph with a step count in a buffer, two with a count that is an \
argument, and six with a count that is an attribute."
SECONDS = 60.0


def do():
    """Count steps in a buffer, and by an argument."""
    import torch
    from torch._dynamo.testing import CompileCounter

    class Decay(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("step", torch.zeros(()))

        def forward(self, x):
            self.step += 1
            return x / self.step

    in_buffer, by_argument = CompileCounter(), CompileCounter()
    decay = torch.compile(Decay(), backend=in_buffer)
    decay_by = torch.compile(lambda x, step: x / step, backend=by_argument)
    results = []
    for step in range(1, 7):
        results.append(decay(torch.ones(10)))
        decay_by(torch.ones(10), step)
    return {
        "graphs": in_buffer.frame_count,
        "graphs_by_argument": by_argument.frame_count,
        "last": float(results[-1][0]),
    }


def dont():
    """Count steps in an attribute."""
    import torch
    from torch._dynamo.testing import CompileCounter

    class Decay(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 0

        def forward(self, x):
            self.step += 1
            return x / self.step

    in_attribute = CompileCounter()
    decay = torch.compile(Decay(), backend=in_attribute)
    results = [decay(torch.ones(10)) for _ in range(6)]
    return {"graphs": in_attribute.frame_count, "last": float(results[-1][0])}


def holds(do, dont):
    """Say whether each value of the attribute was compiled, and those of the others were not."""
    same = abs(do["last"] - dont["last"]) < 1e-6
    few = do["graphs"] == 1 and do["graphs_by_argument"] <= 2
    return same and few and dont["graphs"] == 6
