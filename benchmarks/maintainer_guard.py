"""What a pull request must not make slower: a start with a graph, and the work on it."""

import networkx as nx
import numpy as np
from scipy import sparse

_drawn = np.random.default_rng(1).random((60, 60)) < 0.1
GRAPH = nx.from_scipy_sparse_array(sparse.csr_array(_drawn | _drawn.T))


def work() -> np.ndarray:
    """Return the betweenness of each node."""
    return np.array(list(nx.betweenness_centrality(GRAPH).values()))
