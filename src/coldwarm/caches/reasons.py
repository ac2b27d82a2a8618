"""Reasons why a cache cannot be controlled, as their owners word them."""

from coldwarm.caches.modes import owners
from coldwarm.contracts.reasons import Codes, declare

declare(Codes({code: words for one in owners().values() for code, words in one.words.items()}))
