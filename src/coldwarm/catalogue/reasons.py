"""Texts about patterns and claims."""

from coldwarm.contracts.reasons import Codes, declare

_REASONS = {
    "index_silent": "no package index gave an answer: {text}",
    "tpu_unavailable": "no TPU is usable here",
    "not_seen": "not measured: {what}",
    "not_declared_here": "this version of coldwarm has no such pattern or claim",
    "judged_by_other_file": "its file is not the one that it was measured by; the rule of today"
    " says {verdict}",
    "declared_otherwise": "its file is not the one that it was measured by",
    "holds_at": "so at {n_held} of {n_points} points: {point_names}",
    "few_points": "only {n_decided} of {n_points} points are decided",
    "difference_small": "the difference is surely less than 2 %",
    "difference_perhaps_small": "the difference may be less than 2 %",
    "transferred_holds": "the source speaks of a GPU; this machine shows the same",
    "transferred_differs": "the source speaks of a GPU; this machine shows something else",
    "transferred_depends": "the source speaks of a GPU; this machine shows the same at some points:"
    " {parts}",
    "transferred_undecided": "the source speaks of a GPU; this machine leaves it open",
    "rule_withdrawn": "the rule does not decide on this claim",
    "facts_as_stated": "both sides have shown what the pattern says",
    "facts_otherwise": "the two sides have not shown what the pattern says",
    "no_verdict_on": "nothing was measured that decides on {metric}{parts}",
    "counted": "{n_do} against {n_dont} {count_name}",
}
_ADVICE = {
    "index_silent": "make the snapshot where there is a network, or name an index with --index",
}
_PARAMETERS = {
    "counted": "count_name n_do n_dont",
}
declare(Codes(_REASONS, _ADVICE, _PARAMETERS))
