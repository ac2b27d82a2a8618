"""Texts about other tools' files."""

from coldwarm.contracts.reasons import Codes, declare

_REASONS = {
    "measured_elsewhere": "{side}: measured by {tool}. No cache mode is proved, no answer was"
    " checked, and whether all was called, waited for and set up alike is not known",
    "exported_elsewhere": "{side}: measured by coldwarm, in a file of {tool}, which does not hold"
    " what proves its cache modes and answers",
    "one_process_elsewhere": "{side}: {tool} measured a benchmark in one process alone, which says"
    " nothing of how processes differ",
    "ends_differ": "starts are timed to the end of the process on one side, and to a first result"
    " on the other",
    "runs_failed_elsewhere": "{n_failed:# run} failed under {tool}, and a failed run has no time",
    "no_samples_elsewhere": "{tool} wrote no samples of it",
    "no_time_elsewhere": "it is {value}, which is no time",
    "nameless_elsewhere": "it has no name",
    "same_name_elsewhere": "several benchmarks of one commit have this name",
}
_ADVICE = {
    "one_process_elsewhere": "give several files a side, five or more in all: A1,A2,A3 B1,B2,B3",
}
_PARAMETERS = {
    "runs_failed_elsewhere": "tool n_failed",
}
declare(Codes(_REASONS, _ADVICE, _PARAMETERS))
