"""What a pull request must not make slower: a start with a graph, and the work on it.

It stands in the repository of ``maintainer.py`` as ``benchmarks/guard.py``.
"""

import networkx as nx
import numpy as np
from scipy import sparse, stats

_drawn = np.random.default_rng(1).random((60, 60)) < 0.1
GRAPH = nx.from_scipy_sparse_array(sparse.csr_array(_drawn | _drawn.T))


def work() -> np.ndarray:
    """Return the rank of each node by its betweenness."""
    between = nx.betweenness_centrality(GRAPH)
    return np.asarray(stats.rankdata([between[node] for node in GRAPH]))
