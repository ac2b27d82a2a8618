"""SymPy, NetworkX and statsmodels."""

import networkx as nx
import numpy as np
import statsmodels.api as sm
import sympy

T = sympy.Symbol("t")
GRAPH = nx.gnp_random_graph(40, 0.2, seed=1)
DESIGN = sm.add_constant(np.linspace(0, 1, 100))
ANSWER = np.linspace(0, 2, 100) + np.sin(np.arange(100.0))


def integral():
    return sympy.integrate(sympy.sin(T) * sympy.exp(T), T)


def roots():
    return sympy.solve(T**3 - 2 * T + 1, T)


def matrix_inverse():
    return sympy.Matrix([[1, 2], [3, 4]]).inv()


def number():
    return sympy.pi.evalf(30)


def numbers_of_an_expression():
    return sympy.lambdify(T, sympy.sin(T) ** 2)(np.linspace(0, 1, 10))


def shortest_paths():
    return dict(nx.all_pairs_shortest_path_length(GRAPH))


def ranks():
    return nx.pagerank(GRAPH)


def subgraph():
    return GRAPH.subgraph(range(10)).copy()


def tree():
    return nx.minimum_spanning_tree(GRAPH)


def communities():
    return nx.community.greedy_modularity_communities(GRAPH)


def regression():
    return sm.OLS(ANSWER, DESIGN).fit()


def parameters():
    return sm.OLS(ANSWER, DESIGN).fit().params


def generalised():
    return sm.GLM(np.round(np.abs(ANSWER)), DESIGN, family=sm.families.Poisson()).fit().params


def autocorrelation():
    return sm.tsa.acf(ANSWER, nlags=10)
