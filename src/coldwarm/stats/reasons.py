"""Texts about figures: intervals, verdicts, plans and answers."""

from coldwarm.contracts.reasons import Codes, declare

_REASONS = {
    "no_checkout": "coldwarm does not run from a checkout of its own",
    "few_values": "a percentile as high as this needs {n_needed} values; there are {n_values}",
    "few_samples": "cannot be judged from {n_samples:# sample}; {n_needed} are needed",
    "few_processes": "{n_processes:# process}; an interval needs {n_needed}",
    "few_processes_each": "an interval needs at least {n_needed} processes of each candidate",
    "few_processes_of": "{side:side} has {n_processes:# valid process}; a comparison"
    " needs at least {n_needed}",
    "few_pairs": "{n_pairs:# valid pair} of processes, and {n_needed} are needed",
    "few_pairs_fit": "no more than {n_pairs:# pair} of processes can be measured, and"
    " {n_needed} are needed",
    "few_valid": "{n_processes:# valid process}",
    "not_positive": "{side:side} has a process without a value above 0",
    "no_valid_process": "no valid process",
    "no_valid_process_in": "{candidate} has no valid process: {cache_mode:mode}",
    "no_warm_samples": "no valid process has warm samples in which nothing was compiled",
    "no_interval": "there is no interval of the median of {figure}",
    "not_recorded": "not recorded by any process",
    "unstated": "no reason was recorded",
    "not_judged": "no evidence was judged: {cache_mode:mode}",
    "batches_differ": "it differs between blocks: {batch_names}",
    "no_compiling_step": "no step after the first one compiled anything",
    "no_plain_step": "every step after the first one compiled something",
    "no_scenario": "the workload is no scenario",
    "one_shape": "the inputs have one shape",
    "below_clock": "cannot be judged: a sample of 0 s is below what the clock resolves",
    "drifts": "still {change_share:drift} between the first and the second half",
    "level_moves": "its level moved {n_moves:# time}, over a range of {range_share:.0%}",
    "steady_after": "steady after {n_warmup} of {n_samples:# sample}",
    "steady_slower": "steady after {n_warmup} of {n_samples:# sample}, {slower_share:.0%}"
    " slower than before",
    "steady": "{n_processes:# process}, all steady after at most {n_warmup:# sample}",
    "shown_by_others": "other processes of this candidate have shown it",
    "started_together": "other measured processes started at the same time",
    "steady_across": "{n_steady} of {n_processes:# process} steady by themselves; across all,"
    " calls change by {change_share:+.1%} from half-time on ({low_share:+.1%} to"
    " {high_share:+.1%})",
    "steady_of_few": "{n_steady} of {n_processes:# process} steady",
    "unsteady": "{n_unsteady} of {n_processes:# process} did not become steady",
    "drifts_across": "across {n_processes:# process}, warm calls are still"
    " {change_share:drift} from half-time on ({low_share:+.1%} to {high_share:+.1%})",
    "interval_outside": "the {confidence_share:.0%} interval of the ratio, from {parts}, lies"
    " beyond the threshold",
    "interval_inside": "the {confidence_share:.0%} interval of the ratio, from {parts}, lies"
    " within the threshold",
    "interval_across": "the {confidence_share:.0%} interval of the ratio, from {parts}, contains"
    " the threshold",
    "few_for_verdict": "{parts}; a verdict needs {n_needed}",
    "far_apart": "in {parts} every value lies more than {far_ratio:.0f} times beyond all of the"
    " other side",
    "control_differs": "{parts}; but {of}, measured twice ({control}), differs from itself"
    " {control_ratio:.3g} times",
    "many_verdicts": "{parts}; but among {n_verdicts:# comparison} chance gives a difference like"
    " this too often for an error rate of {error_share:.0%}",
    "common_rounds": "{n_rounds:# common round}",
    "common_start": "both import the same module: each round counts the mean of their imports",
    "separate_processes": "{n_processes} and {n_baseline} processes",
    "separate_runs": "{n_ours} and {n_baseline} runs",
    "rounds_related": "processes that ran one after the other are more alike than independent ones"
    " are ({false_share:.0%} of independent series look so): the interval may be too narrow",
    "lone_run": "{parts}: a single run may be the odd one; a verdict needs {n_needed} of each side",
    "between_runs": "two equal runs of this machine stay within {noise_share:.0%} of each other",
    "whole_rounds": "{n_rounds:# round}",
    "rounds_left_out": "{n_rounds:# incomplete one}",
    "separate_costs": "too few rounds have all of the costs",
    "by_order": "the sorted totals of {n_rounds:# round}",
    "by_student": "{n_rounds:# round}, assumed to be log-normal",
    "shared_processes": "{n_processes:# process} that called both in turns",
    "forked_processes": "{n_processes:# process} that called both in turns, of which {n_forked}"
    " were forked after the imports",
    "shared_otherwise": "processes that call both in turns show a ratio of {shared_ratio:.3g},"
    " separate ones another: the verdict is of these",
    "starts_in_turns": "{n_rounds:# round} in which both started in turns",
    "turns_otherwise": "starts that take turns show a ratio of {shared_ratio:.3g}, starts alone"
    " another: the verdict is of these",
    "block_pairs": "{n_pairs:# pair} of blocks in {n_rounds:# round}",
    "most_common": "{parts} (and {n_others:# other reason})",
    "imprecise": "precision ±{reached_share:.1%}, not the ±{asked_share:.1%} asked for",
    "two_levels": "{upper_share:.0%} of the samples are {gap_share:.0%} slower than the others",
    "mean_above_median": "some calls are slow: mean {mean_s:time}, median {median_s:time}",
    "slow_second_call": "the second call takes {steady_ratio:.1f} times a steady one",
    "compiled_blocks": "{n_blocks:# block} left out because programs were compiled in the"
    " window or the count is unknown",
    "no_bytecode": "{n_missing} of {n_modules:# loaded module} without bytecode, parsed"
    " by each process",
    "no_total": "no candidate has a total",
    "no_other_total": "no other candidate was measured often enough",
    "run_of_each_size": "a sweep has a run for each size",
    "not_swept": "no candidate has the costs of every job in the range",
    "nothing_made": "nothing is compiled ahead of time",
    "whole_loops": "not computed: a call is a whole loop, of which a process makes one",
    "longer_process": "in a longer process {candidate_names:or} {n_calls:from}",
    "filled_caches": "with filled caches {candidate_names:or} {n_calls:from}",
    "filled_caches_open": "with filled caches: not decided",
    "more_shapes": "each further shape costs {candidate} {extra_s:time} more",
    "indistinguishable": "it cannot be distinguished from {candidate_names}",
    "extrapolated": "of {candidate}, {n_calls:# call} of a process were measured; if later ones"
    " cost what the last of those did, {parts}",
    "all_dearer": "every other candidate is dearer, with {confidence_share:.0%} confidence at this"
    " number of calls",
    "few_sizes": "{n_sizes:# size} within a factor of 100 of the largest, of {n_needed} needed",
    "warm_call_differs": "its warm call is {which}",
    "neither_differs": "neither its start nor its warm call is {which}",
    "starts_equal": "the starts are equal, and the warm calls cannot be distinguished",
    "nothing_distinguished": "neither the starts nor the warm calls can be distinguished",
    "start_differs": "its start is {which}, and the warm calls cannot be distinguished",
    "never": "never",
    "at_once": "at once",
    "many_calls": "more than {n_calls:.0e} calls",
    "only_in": "only in {side}",
    "sides_apart": "A and B share no rounds: the machine itself may have changed in between, which"
    " no interval here covers. Candidates interleaved in one run compare more strongly",
    "few_runs": "A has {n_a:# run} and B {n_b}: from {n_needed} in all on the run is the"
    " unit, and what changes between runs is in every interval; here processes are the unit",
    "noise_shown": "a difference of {kind} figures counts from {noise_share:.0%} on, or from the"
    " threshold where that is more: two equal runs of this machine stay within it, by"
    " {n_reports:# report} of coldwarm noise",
    "noise_unknown": "no noise report of this machine is known for {kind_names} figures: two equal"
    " runs may differ by more than the threshold",
    "incomplete": "{side} is incomplete",
    "disturbed": "{side}: something else disturbed {n_disturbed} of {n_processes:# process}",
    "harness_differs": "harness: coldwarm's own source differs ({a} and {b}), its protocol does"
    " not",
}
_ADVICE = {
    "few_processes_each": "raise --rounds",
    "few_processes_of": "measure with a higher --rounds",
    "interval_across": "more processes narrow it",
    "control_differs": "close other programs, or give it more time with --time-budget",
    "lone_run": "compare several runs a side: A1,A2,A3 B1,B2,B3",
    "between_runs": "compare several runs a side: A1,A2,A3 B1,B2,B3",
    "noise_unknown": "run coldwarm noise here, or compare several runs a side: A1,A2,A3 B1,B2,B3",
    "incomplete": "`coldwarm run --resume` goes on with it",
}
_PARAMETERS = {
    "few_values": "n_values n_needed",
    "few_processes": "n_processes n_needed",
    "steady_across": "change_share low_share high_share n_steady n_processes",
    "drifts_across": "change_share low_share high_share n_processes",
}
declare(Codes(_REASONS, _ADVICE, _PARAMETERS))
