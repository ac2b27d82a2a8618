"""Which expressions of a program are tensors of PyTorch, as its source tells.

What a variable holds follows from what is assigned to it, an argument from what the program's calls
give, a result from what a function returns. What is not known to be a tensor is none.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.doctor.source_code import Function, SourceFiles


_OF_TENSORS = {"detach", "requires_grad_", "unsqueeze", "squeeze", "backward", "new_zeros", "cpu"}
"""Methods that arrays of NumPy don't have."""
_KEYWORDS = {"dim", "keepdim", "requires_grad", "device", "generator"}
_NO_TENSORS = {"tolist", "numpy", "item", "size", "dim", "numel", "shape", "stride", "device"}
"""Methods that give something else."""
_NO_FUNCTIONS = frozenset(
    (
        *("manual_seed", "Generator", "device", "compile", "no_grad", "is_tensor", "Size"),
        *("set_num_threads", "get_num_threads", "inference_mode", "vmap", "split", "chunk"),
    )
)
_SPACES = {"torch", "torch.linalg", "torch.fft", "torch.special", "F", "torch.nn.functional"}
"""Modules of PyTorch whose functions give tensors."""
_SAME = {"T", "mT", "data", "grad", "real", "imag"}
"""Attributes of a tensor that are tensors."""
_DEEPEST = 12
"""Steps from one name to the next that are followed."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Place(NamedTuple):
    """An expression, and where it stands."""

    path: str
    function: Function | None
    value: ast.expr


class TensorNames:
    """What is a tensor in the files of a program."""

    def __init__(self, sources: SourceFiles) -> None:
        """Look through all files."""
        self._sources = sources
        self._names: dict[tuple[str, Function | None, str], list[ast.expr | None]] = defaultdict(
            list
        )
        """By file, function and variable, what is assigned; ``None``: it is not told."""
        self._attributes: dict[str, list[_Place | None]] = defaultdict(list)
        self._calls: dict[str, list[tuple[_Place, ast.Call]]] = defaultdict(list)
        self._functions: dict[str, list[tuple[str, Function]]] = defaultdict(list)
        for path in sources.paths:
            for node in sources.nodes(path):
                self._add(path, node)

    def is_tensor(
        self, path: str, function: Function | None, value: ast.expr, depth: int = _DEEPEST
    ) -> bool:
        """Say whether an expression in a function of a file is a tensor."""
        found = False

        def same(other: ast.expr) -> bool:
            return self.is_tensor(path, function, other, depth - 1)

        match value if depth else None:
            case ast.Name(id=name):
                found = self._is_variable(path, function, name, depth)
            case ast.Attribute(value=owner, attr=name):
                found = (name in _SAME and same(owner)) or self._is_attribute(name, depth)
            case ast.Call() as call:
                found = self._is_result(path, function, call, depth)
            case ast.BinOp(left=left, right=right):
                found = same(left) or same(right)
            case ast.Compare(left=left) | ast.UnaryOp(operand=left) | ast.Subscript(value=left):
                found = same(left)
            case ast.IfExp(body=body, orelse=other):
                found = same(body) and same(other)
        return found

    def _add(self, path: str, node: ast.AST) -> None:
        line = getattr(node, "lineno", 0)
        function = next(iter(self._sources.functions_around(path, line)), None)
        if isinstance(node, _FUNCTIONS):
            self._functions[node.name].append((path, node))
        elif isinstance(node, ast.Call):
            self._calls[called(node)].append((_Place(path, function, node), node))
        elif isinstance(node, (ast.For, ast.comprehension)):
            around = self._sources.functions_around(path, node.target.lineno)
            for one in ast.walk(node.target):
                if isinstance(one, ast.Name):  # what it is depends on what the loop goes through
                    self._names[path, next(iter(around), None), one.id].append(None)
        for target, made in _assigned(node):
            if isinstance(target, ast.Name):
                self._names[path, function, target.id].append(made)
            elif isinstance(target, ast.Attribute):
                found = None if made is None else _Place(path, function, made)
                self._attributes[target.attr].append(found)

    def _is_variable(self, path: str, function: Function | None, name: str, depth: int) -> bool:
        made = self._names.get((path, function, name), [])
        if any(one is None for one in made):
            return False
        known = [one for one in made if one is not None and name not in _loaded(one)]
        if not all(self.is_tensor(path, function, one, depth - 1) for one in known):
            return False
        argument = next((one for one in _arguments(function) if one.arg == name), None)
        if function is not None and argument is not None:
            return self._is_argument(function, argument, depth)
        if not made and function is not None:
            return self._is_variable(path, None, name, depth - 1)
        return bool(known)

    def _is_argument(self, function: Function, argument: ast.arg, depth: int) -> bool:
        """Say whether all calls of a function give a tensor, or its annotation says so."""
        if argument.annotation is not None:
            return ast.unparse(argument.annotation).rpartition(".")[2] == "Tensor"
        given = [
            (place, one)
            for place, call in self._calls[function.name]
            if (one := given_to(function, argument.arg, call)) is not None
        ]
        return bool(given) and all(
            self.is_tensor(place.path, place.function, one, depth - 1) for place, one in given
        )

    def _is_attribute(self, name: str, depth: int) -> bool:
        made = self._attributes.get(name, [])
        return bool(made) and all(
            one is not None and self.is_tensor(*one, depth=depth - 1) for one in made
        )

    def _is_result(self, path: str, function: Function | None, call: ast.Call, depth: int) -> bool:
        """Say whether a call gives a tensor."""
        name, written = called(call), ast.unparse(call.func)
        if name in _NO_TENSORS:
            return False
        if written.rpartition(".")[0] in _SPACES:
            return name not in _NO_FUNCTIONS
        if name in _OF_TENSORS or any(one.arg in _KEYWORDS for one in call.keywords):
            return True
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is not None and self.is_tensor(path, function, owner, depth - 1):
            return True
        made = self._functions.get(name, [])
        returned = [(*one, each) for one in made for each in _returned(one[1])]
        return (
            len(made) == 1
            and bool(returned)
            and all(self.is_tensor(*one, depth=depth - 1) for one in returned)
        )


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield what a statement assigns, and to what; ``None``: that is a part of it."""
    if isinstance(node, ast.AnnAssign) and "Tensor" in ast.unparse(node.annotation):
        yield node.target, ast.parse("torch.tensor(0)", mode="eval").body
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            parts, values = getattr(target, "elts", [target]), [node.value]
            if len(parts) > 1 or isinstance(target, (ast.Tuple, ast.List)):
                same = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(parts)
                values = node.value.elts if same else [None] * len(parts)  # type: ignore[attr-defined,list-item] # ``same`` says so
            yield from zip(parts, values, strict=True)


def _arguments(function: Function | None) -> Iterable[ast.arg]:
    return (
        []
        if function is None
        else [
            *function.args.posonlyargs,
            *function.args.args,
            *function.args.kwonlyargs,
        ]
    )


def given_to(function: Function, name: str, call: ast.Call) -> ast.expr | None:
    """Return what a call gives a function for an argument."""
    named = next((one.value for one in call.keywords if one.arg == name), None)
    names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
    if named is not None or name not in names:
        return named
    is_method = names[0] in {"self", "cls"} and isinstance(call.func, ast.Attribute)
    place = names.index(name) - is_method
    return call.args[place] if 0 <= place < len(call.args) else None


def _returned(function: Function) -> Iterator[ast.expr]:
    """Yield what a function returns."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def _loaded(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
