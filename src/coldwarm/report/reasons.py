"""The words of every reason: the one place where codes become sentences."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

from coldwarm.private.masking import cleaned
from coldwarm.report import units
from coldwarm.report.doctor.evidence import EVIDENCE
from coldwarm.report.words import either, mode_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.summary import Caution, CautionKind

WORDS: dict[str, str] = {
    "stated": "{text}",
    "several": "{parts}",
    # Processes, caches and the machine.
    "correctness_gate": "its answer is wrong{parts:place}",
    "not_reproducible": "its answer is another one in each process, so it cannot be checked",
    "reference_not_reproducible": "it cannot be checked, as the answer of {candidate}, which it is"
    " held against, changes from call to call",
    "gpu_unavailable": "no GPU of the kind that it needs is usable here",
    "missing_dependency": "{name} is not installed",
    "not_measured": "not measured: the run ended before {mode_names}",
    "not_proved": "not proved: no valid process in {mode_names} ({parts})",
    "timeout": "timeout: no answer within {limit_s:g} s",
    "exception": "{error}: {text}",
    "exited": "exit status {status} before a result",
    "signal": "ended by the signal {name}",
    "killed": "killed by the signal SIGKILL; out of memory?",
    "pipe_closed": "closed its pipe without a result",
    "output_flood": "printed more than {limit_bytes:size}",
    "garbage": "garbage on the pipe: {text}",
    "malformed": "malformed {message!r} message: {text}",
    "no_plain_folder": (
        "{folder} has a blank, a quote or another character that takes the command of the C++"
        " compiler apart, which torch.compile runs there; and no link to it can be made under the"
        " folders for temporary files"
    ),
    "setting_changes": (
        "with {setting_names} {backend} is another thing than its name says, and its figures would"
        " be taken for those of {backend} as it comes"
    ),
    "settings": "measured with {setting_names}",
    "reference_failed": "no reference answer: {parts}",
    "making_failed": "could not be made ahead of time: {parts}",
    "no_artifact": "the backend wrote no file, so there is nothing to load",
    "other_inputs": (
        "its inputs are not those of the other candidates; inputs() must depend on rng alone"
    ),
    "contradicted": "{mode}: {parts}",
    "no_cache": "a fresh process; this backend keeps no cache",
    "start_not_judged": "nothing is asked of the start",
    "uncounted": "{owner}: no count of {count_names}",
    "files_before": "{owner}: {n_files:# file} before the spawn",
    "foreign_hits": "{owner}: {n_hits:# hit} in an empty cache, and not of its own entries",
    "not_compiled": "{owner}: nothing was compiled",
    "kept_elsewhere": (
        "{owner}: {n_entries:# program} compiled or written, and no file in the private directories"
    ),
    "cache_not_asked": "{owner}: {n_compiles:# compile} and no miss: the cache was not asked",
    "compiled_again": (
        "{owner}: {n_hits:# hit}, and yet {n_files:# new file} ({suffix_names}): compiled again"
    ),
    "not_from_cache": (
        "{owner}: {n_misses} missed, {n_bypasses} bypassed, {n_compiles} compiled with a"
        " filled cache"
    ),
    "no_hits": "{owner}: no hits",
    "new_files": "{owner}: {n_files:# new file}",
    "cache_used": (
        "{owner}: {n_requests:# request}, {n_compiles:# compile}, {n_files:# file} where"
        " nothing was left to compile"
    ),
    "cache_not_used": "{owner}: not used",
    "empty_before": (
        "{owner}: empty before, {n_hits:# hit} of its own entries, {n_compiles:# compile}"
    ),
    "filled_by_default": "{owner}: as its own settings fill it, {n_files:# file} before,"
    " {n_hits:# hit}, {n_compiles:# compile}",
    "same_by_default": "the framework's own settings would have kept the same",
    "not_measured_by_default": "the run ended before it was measured, or nothing showed what the"
    " framework's own settings keep",
    "not_filled": "caches are not filled in this mode",
    "filled_before": "{owner}: {n_files:# file} before, {n_hits:# hit}, no miss",
    "none_new": "{owner}: {n_files:# file} before, none new",
    "written": "{owner}: empty before, {n_files:# file} written",
    "none_written": "{owner}: the process wrote none, so it used some",
    "as_installed": "{owner}: as installed",
    "loaded": "{owner}: loaded {n_files:# file} of {size_bytes:size}, made ahead of time",
    "no_warm_block": "no warm block was measured",
    "blocks_uncounted": "{n_blocks:# block} without a count of compiles{parts:place}",
    "came_unwatched": "{framework} was loaded in a way that could not be followed, so that nobody"
    " counted what it compiled until then",
    "listeners_removed": "the program removed the listeners that count what {framework} compiles",
    "caches_moved": "the program moved a cache away from the folder that it was given:"
    " {setting_names}",
    "files_of_earlier": "{owner}: it read {n_files:# file} that an earlier process of this program"
    " wrote ({file_names})",
    "files_left_by_earlier": "{owner}: an earlier process of this program wrote {file_names}, and"
    " it did not",
    "files_own": "{owner}: it read none that an earlier process wrote",
    "files_without": "{owner}: it was started without {file_names}, which it makes by itself, and"
    " read none that an earlier process wrote",
    "files_hidden": "the program makes {file_names} by itself; each start with empty caches was"
    " without it",
    "files_untried": "the program read {file_names}, there before; whether it makes it by itself"
    " was not found out",
    "files_left": "{owner}: {n_files:# file} in its home and cache folder before",
    "files_unseen": "files: what a child process opens, or a library in C, is not seen",
    "no_new_header": "{owner}: C++ was compiled for {n_compiles:# graph}, and no precompiled header"
    " is new: one from elsewhere was used",
    "caches_controlled": "caches in folders of each process's own: {owner_names}, and temporary"
    " files",
    "own_memo": "what a function, or a library that coldwarm does not know, keeps on disk by itself"
    " is empty only as far as it was seen",
    "faster_than_inspected": "the first call took {cold_s:time} where the inspection's took"
    " {inspected_s:time}: something that it keeps by itself may not have been empty",
    "extensions_by_files": "extensions: torch.utils.cpp_extension counts nothing; its files alone"
    " are judged",
    "compiled_in_window": "{n_programs:# program} compiled in the warm window",
    "every_call_compiled": "every call compiled: {n_programs:# program} in {n_calls:# call}",
    "second_call_compiled": (
        "every call compiles: a second one with the same arguments compiled {n_programs:# program}"
    ),
    "nothing_compiled": "0 compiles in {n_blocks:# block}",
    "nothing_compiled_since": "{n_programs:# program} compiled during the warm-up, and none in the"
    " {n_calls:# call} after it",
    "no_glibc": "the C library is not glibc, whose allocator alone can be taught to keep memory",
    "memory_returned": "its memory goes back to the system after each call, which then costs"
    " {n_faults:# page fault}; where it is kept, a call is {gain_ratio:.3g} times as fast",
    "memory_may_be_returned": "a call costs {n_faults:# page fault}, and too little was measured to"
    " tell whether keeping freed memory makes it faster",
    "few_page_faults": "a call costs {n_faults:# page fault}: there is nothing to gain",
    "memory_not_compared": "no process that keeps memory was measured",
    "answers_kept": "with other numbers of the same shapes a call takes {other_s:time}, with the"
    " same ones again {usual_s:time}: something is kept from call to call",
    "slow_after_pause": "after a pause a call takes {other_s:time}, right after another"
    " {usual_s:time}",
    "collecting": "a call of {usual_s:time} costs another {collecting_s:time} in Python's garbage"
    " collector, which is off while calls are timed",
    "no_other_arguments": "it has no arguments",
    "unvaried": "coldwarm can make no other data of it",
    "of_argument": "{name}: {parts}",
    "untried": "not tried with other data: {parts}",
    "partly_tried": "tried with other data in {argument_names}, not in {other_names} ({parts})",
    "ignores_arguments": "with other data in {argument_names} its answer stays as it was, and the"
    " right one does not",
    "answer_stays": "with other data its answer was the same: it does not depend on them, or it is"
    " that of an earlier call",
    "wrong_for_others": "with other data in {argument_names} its answer is wrong: {parts}",
    "unlike_for_others": "with changed data in {argument_names}, which it may not be made for, its"
    " answer is not the reference's: {parts}",
    "constants_folded": "compiled once and for all: {program_names} computes from arrays that it"
    " holds as constants, and XLA has done that while compiling, so that a call does next to"
    " nothing",
    "no_other_answers": "the reference gave no answer to other data that could be compared",
    "other_data_differ": "its arguments are not those of the reference",
    "no_reference": "there is no other function to hold them against",
    "calls_too_long": "a call takes {call_s:time}, too long for others beside those that are timed",
    "collector_off": "the program has switched off Python's garbage collector",
    "bytecode_as_installed": "Python bytecode is as installed in every mode but first_ever",
    "pages_as_left": "file pages are as the machine left them in every mode but first_ever",
    "pages_by_advice": (
        "first_ever drops file pages by advice to the kernel, which may keep pages that are"
        " mapped by another process; bytes read from storage are published beside it"
    ),
    "cuda_uncounted": (
        "cuda: the driver reports no hits or misses; its cache is judged by the files in it"
    ),
    "cuda_as_left": (
        "cuda: clocks, persistence mode and what the driver holds are as the machine left them"
    ),
    "cuda_lazy": (
        "cuda: kernels are loaded on first use where CUDA_MODULE_LOADING is lazy, the default"
    ),
    "inductor_compiler": (
        "inductor: the C++ compiler and the libraries it links are as the machine left them"
    ),
    "inductor_preprocessor": (
        "inductor: a filled cache still runs the C++ preprocessor and a test of vector instructions"
    ),
    "jax_cache_key": (
        "JAX: with a cache directory set, a first call also makes the cache key and, where"
        " it compiles, writes the entry; both are inside the compile part"
    ),
    "numba_config": (
        "numba: a file .numba_config.yaml in the working directory, if there is one, is obeyed"
    ),
    "made_shortly_before": (
        "what was made ahead of time was written on this machine shortly before: its file is"
        " in memory, except in first_ever, and fits this very processor"
    ),
    "left_out": "left out as private (--leave-out-private)",
    "not_told": "{by} does not tell it",
    "not_yet_read": "read from the first phase of the worker on",
    "not_bound": "it ran wherever the system put it",
    "persistent_only": "measured in persistent processes only",
    "synchronous": "calls return finished results",
    "parts_exceed": "the parts, {parts_s:.4g} s together, exceed the call, {whole_s:.4g} s",
    "inputs_not_reached": "no process came as far as making the inputs",
    "warm_not_asked": "the warm regime was not measured",
    "interrupted": "the run was interrupted",
    "foreign_cpu": "other processes used {foreign_processors:.2g} processors",
    "foreign_cpu_warm": (
        "other processes used {foreign_processors:.2g} processors during warm calls"
    ),
    "steal": "the host took {steal_share:.1%} of the processor time",
    "throttled": "the CPU quota throttled it for {throttled_s:.3g} s",
    "throttled_warm": "the CPU quota throttled it for {throttled_s:.3g} s during warm calls",
    "group_unseen": "its own control group cannot be read from here",
    "thermal": "{n_throttles:# thermal throttle}",
    "switches": "{switches_per_s:.0f} involuntary switches a second",
    "budget_short": "the time budget of {budget_s:time} is too short for a verdict:"
    " {n_rounds:# round} of all candidates take about {needed_s:time}",
    "budget_ended": "the time budget ended while {process} ran",
    "line_left_out": "journal line {n_line}: {text}; left out",
    "no_control_groups": "no control groups on this system",
    "unlimited": "unlimited",
    "no_frequency_policy": (
        "the system does not show a frequency policy (common in virtual machines)"
    ),
    "not_on_path": "no {program} on PATH",
    "program_failed": "{program} failed: {text}",
    "no_answer": "{program} did not answer within {limit_s:g} s",
    "not_understood": "the answer of {program} was not understood: {text}",
    "no_driver": "not looked for: no NVIDIA driver here",
    "no_checkout": "coldwarm does not run from a checkout of its own",
    # Statistics.
    "few_values": "a percentile as high as this needs {n_needed} values; there are {n_values}",
    "few_samples": "cannot be judged from {n_samples:# sample}; {n_needed} are needed",
    "few_processes": "an interval needs at least {n_needed} processes, not {n_processes}",
    "few_processes_each": "an interval needs at least {n_needed} processes of each candidate",
    "few_processes_of": "{side:side} has {n_processes:# valid process}; a comparison needs at least"
    " {n_needed}",
    "few_pairs": "{n_pairs:# valid pair} of processes, and {n_needed} are needed",
    "few_pairs_fit": "no more than {n_pairs:# pair} of processes can be measured, and {n_needed}"
    " are needed",
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
    "steady_slower": "steady after {n_warmup} of {n_samples:# sample}, {slower_share:.0%} slower"
    " than before",
    "steady": "{n_processes:# process}, all steady after at most {n_warmup:# sample}",
    "shown_by_others": "other processes of this candidate have shown it",
    "started_together": "other measured processes started at the same time",
    "steady_across": "{n_steady} of {n_processes:# process} steady by themselves; across all,"
    " calls change by {change_share:+.1%} from half-time on ({low_share:+.1%} to"
    " {high_share:+.1%})",
    "steady_of_few": "{n_steady} of {n_processes:# process} steady",
    "unsteady": "{n_unsteady} of {n_processes:# process} did not become steady",
    "drifts_across": "across {n_processes:# process}, warm calls are still {change_share:drift}"
    " from half-time on ({low_share:+.1%} to {high_share:+.1%})",
    "interval_outside": "the {confidence_share:.0%} interval of the ratio, from {parts}, lies"
    " beyond the threshold",
    "interval_inside": "the {confidence_share:.0%} interval of the ratio, from {parts}, lies"
    " within the threshold",
    "interval_across": "the {confidence_share:.0%} interval of the ratio, from {parts}, lies"
    " neither beyond the threshold nor within it",
    "few_for_verdict": "{parts}; a verdict needs {n_needed}",
    "far_apart": "in {parts} every value lies more than {far_ratio:.0f} times beyond all of the"
    " other side",
    "control_differs": "{parts}; but {control}, which is {of} once more, differs too, by"
    " {control_ratio:.3g} times",
    "many_verdicts": "{parts}; but of {n_verdicts:# comparison} at once a difference like this is"
    " found by chance too often for an error rate of {error_share:.0%}",
    "common_rounds": "{n_rounds:# common round}",
    "separate_processes": "{n_processes} and {n_baseline} processes",
    "separate_runs": "{n_ours} and {n_baseline} runs",
    "rounds_related": "processes that ran one after the other are more alike than independent ones"
    " are ({false_share:.0%} of independent series look so): the interval may be too narrow",
    "lone_run": "{parts}: a single run may be the odd one; a verdict needs {n_needed} of each side",
    "between_runs": "two equal runs of this machine stay within {noise_share:.0%} of each other",
    "whole_rounds": "{n_rounds:# round}",
    "rounds_left_out": "{n_rounds:# round} without all of the costs left out",
    "separate_costs": "too few rounds have all of the costs",
    "by_order": "two of the totals of {n_rounds:# round}, in their order",
    "by_student": "{n_rounds:# round}, logarithms taken to be normally distributed",
    "block_pairs": "{n_pairs:# pair} of blocks in {n_rounds:# round}",
    "most_common": "{parts} (and {n_others:# other reason})",
    "imprecise": "precision ±{reached_share:.1%}, not the ±{asked_share:.1%} asked for",
    "two_levels": "{upper_share:.0%} of the samples are {gap_share:.0%} slower than the others",
    "mean_above_median": "{mean_s:time} on average, {median_s:time} in the middle",
    "slow_second_call": "the second call takes {steady_ratio:.1f} times a steady one",
    "compiled_blocks": "{n_blocks:# block} left out because programs were compiled in the window or"
    " the count is unknown",
    "no_bytecode": "{n_missing} of {n_modules:# loaded module} without bytecode, parsed by each"
    " process",
    "no_total": "no candidate has a total",
    "no_other_total": "no other candidate has a total",
    "not_swept": "no candidate has the costs of every job in the range",
    "nothing_made": "nothing is compiled ahead of time",
    "whole_loops": "not told: a call is a whole loop, of which a process makes one",
    "longer_process": "in a longer process {candidate_names:or} {n_calls:from}",
    "filled_caches": "with filled caches {candidate_names:or} {n_calls:from}",
    "filled_caches_open": "with filled caches this run cannot tell",
    "more_shapes": "each further shape costs {candidate} {extra_s:time} more",
    "indistinguishable": "it cannot be distinguished from {candidate_names}",
    "extrapolated": "extrapolated beyond {n_calls:# measured call} of a process; if later ones"
    " cost what the last of those did, {parts}",
    "all_dearer": "every other candidate is dearer, with {confidence_share:.0%} confidence",
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
    "few_runs": "A has {n_a:# run} and B {n_b}: from {n_needed} in all on the run is the unit, and"
    " what changes between runs is in every interval; here processes are the unit",
    "noise_shown": "a difference of {kind} figures counts from {noise_share:.0%} on, or from the"
    " threshold where that is more: two equal runs of this machine stay within it, by"
    " {n_reports:# report} of coldwarm noise",
    "noise_unknown": "no noise report of this machine is known for {kind_names} figures: two equal"
    " runs may differ by more than the threshold",
    "incomplete": "{side} is incomplete",
    "disturbed": "{side}: something else disturbed {n_disturbed} of {n_processes:# process}",
    "harness_differs": "harness: coldwarm's own source differs ({a} and {b}), its protocol"
    " does not",
    # Files of other tools.
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
    "unit_elsewhere": "its unit is {unit}; only seconds and bytes are compared",
    # Snapshots: files of strangers, keys, and what does not agree.
    "no_snapshot": "{folder} holds no snapshot: there is no snapshot_index.json in it",
    "snapshot_wrong": "{path}: {parts}; nothing of this snapshot is used",
    "file_missing": "is not there, and belongs to the snapshot",
    "file_not_named": "is not named by snapshot_index.json, so nobody vouches for it: remove it",
    "no_such_part": "no file of a snapshot is called so",
    "part_missing": "lacks what every snapshot has: {part}",
    "nothing_makes_it": "follows from no case of the snapshot",
    "named_twice": "names {path} twice",
    "not_to_be_named": "names {path}, which is made from it",
    "other_size": "has {size_bytes} bytes, and had {named_bytes} when the snapshot was made",
    "other_bytes": "was changed after the snapshot was made: its SHA-256 is {sha256}",
    "other_contract": "is {found}, where {expected} belongs; verify it with the version of coldwarm"
    " that made it, which baseline_manifest.json names",
    "artifact_wrong": "{text}",
    "contradicts": "{text}; it was changed after it was measured",
    "name_not_plain": "has a name with characters that cannot be seen",
    "path_too_long": "has a path of more than {n_characters} characters",
    "too_deep": "lies more than {n_folders} folders deep",
    "no_plain_file": "is {kind}, which is not opened: put the file itself there",
    "too_large": "is larger than {limit_bytes:size}, which no file of a snapshot is",
    "too_much": "there are more than {n_files} files, or more than {limit_bytes:size} in all",
    "archive_too_large": "the archive unpacks to far more than its size, or to more than"
    " {limit_bytes:size}, which no snapshot does: it is not unpacked",
    "archive_of_several": "{file} holds something else than the one folder of a snapshot",
    "archive_broken": "{file} is no folder, and no .tar.gz that can be read: {text}",
    "archive_leads_out": "the archive names {path}, which leads out of its folder: nothing of it is"
    " used",
    "archive_entry": "in the archive, {path} {parts}",
    "archive_twice": "the archive has {path} twice: nothing of it is used",
    "no_room_to_unpack": "{folder} cannot take what is unpacked: {text}; free some space there, or"
    " set TMPDIR to another folder (nothing is said of the archive)",
    "key_not_read": "{file} holds no {kind} key that can be read; openssl genpkey -algorithm"
    " ed25519 makes a private one, openssl pkey -pubout the public one of it",
    "key_encrypted": "{file} has a passphrase, and signing asks for none: write it without one into"
    " a place of your own (openssl pkey -in FILE -out key.pem), and remove that afterwards",
    "key_of_other_kind": "{file} is a key of another kind than Ed25519; openssl genpkey -algorithm"
    " ed25519 makes one",
    "not_signed": "is not there: the snapshot is not signed",
    "signature_of_other_length": "is no signature of Ed25519, which has {n_needed} bytes",
    "signature_differs": "is no signature of this snapshot_index.json by the key that lies beside"
    " it",
    "nothing_else_tells": "{holds}",
    "said_otherwise": "{text}; another version of coldwarm says so",
    "other_rules": "{n_values:# value} that today's rules make otherwise",
    "written_otherwise": "says what the runs say, in other bytes than this version writes, so"
    " that more may stand in it",
    "of_other_rules": "made of figures that today's rules make otherwise",
    "not_made_again": "not checked, as it cannot be made again here: {text}",
    "made_otherwise": "not checked: this version makes another one of the runs, so do not open it"
    " unless you trust its maker; coldwarm report makes one",
    "bundle_not_asked": "not checked: --identity and --issuer name who must have signed",
    "signature_not_asked": "not checked: name the key of its maker with --public-key",
    "packed_otherwise": "not packed by coldwarm snapshot package, so it has bytes of its own beside"
    " the files, which nothing checks",
    "empty_folder": "is a folder without a file, which no snapshot has: remove it",
    "archive_more": "{file} goes on after its archive ends: only what coldwarm snapshot package has"
    " written is read",
    "bundle_of_other": "is no bundle of sigstore over this snapshot_index.json: remove it",
    "bundle_differs": "is no signature through sigstore of this snapshot_index.json by the"
    " identity that was given: {text}",
    "no_identity": "there is no identity here that sigstore could sign by: --keyless works in a"
    " workflow that is allowed to write id-tokens; elsewhere, give --key",
    "signature_of_other": "is no signature of this snapshot_index.json by the key that was given",
    "is_baseline": "the others are compared with it, and on another machine its seconds are others",
    "ratios_repeated": "of the ratios to the baseline, each within its own run",
    "same_run": "both have the same run, which says nothing of a difference",
    "no_common_case": "they have no case in common",
    "lock_not_plain": "the lock of the snapshot holds what is no name, version and hash: {text};"
    " nothing was installed",
    "not_hashed": "the lock of the snapshot has no hash of {package_names}, so nothing was"
    " installed; install what is needed yourself, and repeat it with --as-it-is",
    "no_such_wheel": "what was fetched for {name} is no wheel of it: {text}; nothing was installed",
    "not_trusted": "replicating runs code of whoever made the snapshot, and nothing says who that"
    " is: give the maker's key from elsewhere than the snapshot (--public-key), who signed it"
    " (--identity and --issuer), or --trust; nothing was installed or run",
    "no_such_python": "no python{version} is on the path, which the snapshot was measured with;"
    " install it, or name one with --python",
    "environment_failed": "the environment cannot be made: {program} ended with: {text}",
    "harness_not_here": "the snapshot was measured by other sources of coldwarm than these, and"
    " does not hold their wheel; install the version that baseline_manifest.json names, or repeat"
    " it by these with --as-it-is",
    "harness_is_code": "the snapshot was measured by other sources of coldwarm than these; {file}"
    " in it is code of its maker, and is run with --with-its-wheel alone",
    "own_functions": "{case} cannot be repeated from the snapshot: {parts};"
    " run coldwarm bench on that file, and compare the two with coldwarm compare",
    "code_left_out": "its file is not in the snapshot; snapshot create --with-code puts it in",
    "code_not_recorded": "what the bench was asked for is not recorded: it was called from Python,"
    " or with --leave-out-private, or by an earlier version",
    "code_with_option": "the bench was run with {option}, whose value is of that machine alone",
    "code_differs": "the file of {case} in the snapshot is not the one that it was measured with;"
    " nothing was run",
    "no_options": "{folder} does not say by which options it was measured",
    "folder_not_empty": "{folder} is no new or empty folder; choose another --out-dir",
    "rerun_failed": "the run ended with {status} and left no result",
    # Frameworks and a user's own functions.
    "not_kept": "{owner}: what this candidate compiles is not kept for another process",
    "answers_differ": "a second call with the same arguments gave another answer: it keeps a state"
    " or draws random numbers, and only its first answer was checked",
    "arguments_changed": "its calls change their arguments: each gets new ones, made outside the"
    " window",
    "above_tolerance": "scaled error {error_ratio:.3g} is above the tolerance"
    " {tolerance_ratio:.3g}",
    "wrong_numbers": "{n_wrong:# wrong number} of {n_numbers}: the largest error is"
    " {error_ratio:.3g}, above the tolerance {tolerance_ratio:.3g}",
    "output_complex": "the output is complex, the reference is real",
    "output_not_finite": "the output holds values that are not finite",
    "reference_not_finite": "the reference is not finite: nothing is right",
    "not_finite_elsewhere": "the output is infinite or no number where the reference is not, or not"
    " where it is",
    "other_outputs": "expected {n_expected:# output array}, got {n_outputs}",
    "other_shape": "output {n_place}: expected shape {expected}, got {shape}",
    "other_text": "output {n_place} is another text than expected",
    "not_compared": "not compared with the expected answer: {part_names}",
    "carried": "fresh processes got the function by value (cloudpickle): to load it is no part of"
    " first results, the imports that it needs are",
    "state_carried": "fresh processes got what it keeps from call to call as it was here, so that"
    " their first results may lack what a first call does: {state_names}",
    "no_such_step": "{backend} has no such step",
    "not_read": "nothing was read from {cache}",
    "programs_gone": "{n_programs:# program} was no longer loaded when they were counted",
    "many_programs": "{n_programs:# program}, of which no more than {n_counted} are looked into",
    "counters_cleared": "PyTorch's own counters were cleared meanwhile",
    "no_inductor": "Inductor, which makes kernels, was not loaded",
    "inside_cached": "read from {cache}, where what is inside cannot be counted",
    "counts_differ": "{name} differ from process to process: {n_least} to {n_most}",
    "not_counted": "nothing here counts it",
    "begins_not_reported": "JAX before 0.6.1 does not report when a step begins",
    "no_compile_events": "this version of PyTorch reports no compile events",
    "no_compiler": "no compiler that reports its steps was imported",
    "inspecting": "inspecting {candidate_names}: each is called twice, and its answer kept",
    "unusable": "{label:label}{text}",
    "name_missing": "{label:label}{text}",
    "unfinished": "{label:label}{parts}",
    "lazy_result": "the function returns a {kind}, which has computed nothing yet, or may compute"
    " when its numbers are asked for",
    "opaque_result": "the function returns a {kind}, and nobody can tell whether what is in it is"
    " computed",
    "may_compute": "it is not known whether the {kind} that it returns has computed all: what its"
    " {attribute} does, if anybody calls it, is in no figure",
    "not_opened": "it is not known whether the {kind} that it returns has computed all: nobody can"
    " look into it from here",
    "computes_when_asked": "the function returns a {kind}, which computes when it is asked: its"
    " {attribute} took {asked_s:time}, the call {call_s:time}",
    "threads_at_work": "the call left {n_threads:# thread} at work: {thread_names}",
    "processes_at_work": "the call left {n_processes:# process} running: {process_names}",
    "functions_at_exit": "calls left {n_functions:# function} to be called at the end of the"
    " process: {function_names}",
    "arrays_unfinished": "the call left {n_arrays:# array} of JAX unfinished: kept by the function,"
    " and not in its result",
    "gpu_unfinished": "a GPU still had work of {framework} after the call",
    "threads_unfinished": "the call left {n_threads:# thread} at work",
    "processes_unfinished": "the call left {n_processes:# process} running",
    "tasks_unfinished": "the call left {n_tasks:# task} of asyncio unfinished",
    "busy_afterwards": "the process went on computing after the call: it used {used_s:.3g} s of"
    " processor time in the {watched_s:.3g} s after it",
    "left_until_exit": "calls left {n_functions:# function} to be called at the end of the process",
    "signal_pending": "the call has set an alarm, whose handler runs after it",
    "failed_before": "{label} failed before it was measured: {parts}{where:place}",
    "inspection_late": "the time budget was over while {label} was inspected, which calls it twice",
    "cannot_start": "{label:label}{program} cannot be started: {text}",
    "own_cache": "{label:label}{module} sets {setting} by itself, so that no process of it starts"
    " with a cache of known state: leave that to the environment",
    "no_source_file": "{label:label}{module} has no source file to be named by",
    "imported_elsewhere": "{label:label}{module} was imported from {file}, not from {folder}: name"
    " its file instead, FILE.py:NAME",
    "benchmark_of_today": "its file is today's; what that imports is of the commit",
    "not_of_commit": "{label:label}{module_names} came from the files as they are now, not from the"
    " commit: a commit's modules are found in its src/ and its root alone",
    "not_asked": "it was not asked for",
    "needs_linux": "fresh processes are measured on Linux alone (here: {platform})",
    "not_asked_for": "not asked for: {mode_names}",
    "no_time_left": "the time budget was over after the calls in this process; give a longer one",
    "other_arguments": "a fresh process got other arguments than this one: their types do not"
    " survive",
    "fresh_answer_differs": "a fresh process gave another answer than this one: {parts}",
    "not_carried": "{place} (a {kind}) cannot be carried into a fresh process",
    "shared_process": "other things run in this process, too",
    "clean_blocks": "nothing was compiled in {n_clean} of {n_blocks:# block} of warm calls",
    "in_process_compiled": "in this process something was compiled in {n_blocks:# block}, which do"
    " not count",
    # Snapshots.
    "no_index_asked": "no package index was asked",
    "index_silent": "no package index gave an answer: {text}",
    # Patterns and claims.
    "tpu_unavailable": "no TPU is usable here",
    "not_seen": "not measured: {what}",
    "not_declared_here": "this version of coldwarm has no such pattern or claim",
    "judged_by_other_file": "its file is not the one that it was measured by; the rule of today"
    " says {verdict}",
    "declared_otherwise": "its file is not the one that it was measured by",
    "facts_as_stated": "both sides have shown what the pattern says",
    "facts_otherwise": "the two sides have not shown what the pattern says",
    "no_verdict_on": "nothing was measured that decides on {metric}{parts}",
    "counted": "{n_do} against {n_dont} {count_name}",
    **EVIDENCE,
}
"""By code, the sentence. ``{parts}`` are the reasons that it rests on. After a colon: how a value
is written, one of ``WRITTEN``, a format of Python's own, or ``# process`` for a counted noun."""

_OR_SYNC = "or name what waits for it: --sync PACKAGE:FUNCTION (sync= in Python)"
_ONCE = "build the jitted function once, outside of the function that is called"
_QUOTA = "measure with a larger CPU quota (cpu.max of its control group, --cpus of its container)"
ADVICE: dict[str, str] = {
    "noise_unknown": "run coldwarm noise here, or compare several runs a side: A1,A2,A3 B1,B2,B3",
    "lone_run": "compare several runs a side: A1,A2,A3 B1,B2,B3",
    "between_runs": "compare several runs a side: A1,A2,A3 B1,B2,B3",
    "one_process_elsewhere": "give several files a side, five or more in all: A1,A2,A3 B1,B2,B3",
    "control_differs": "close other programs, or give it more time with --time-budget",
    "came_unwatched": "import it with an import statement, and put no finder before Python's own",
    "listeners_removed": "do not clear them while it is measured",
    "caches_moved": "leave that to the environment, or give --warm-only",
    "files_of_earlier": "let the program keep it in its cache folder (XDG_CACHE_HOME), or give"
    " --warm-only",
    "no_new_header": "leave tempfile.tempdir and TMPDIR as they are",
    "every_call_compiled": _ONCE,
    "second_call_compiled": _ONCE,
    "throttled": _QUOTA,
    "throttled_warm": _QUOTA,
    "no_plain_folder": "choose another --out-dir, or set TMPDIR to a folder without such a name",
    "setting_changes": (
        "unset it; coldwarm bench measures a function of your own as it is set up, and names the"
        " setting beside its figures"
    ),
    "few_processes_each": "raise --min-runs",
    "few_processes_of": "measure with a higher --min-runs",
    "interval_across": "more processes narrow it",
    "incomplete": "`coldwarm run --resume` goes on with it",
    "not_kept": "numba.njit keeps it with cache=True",
    "inspection_late": "give a longer --time-budget",
    "cannot_start": "name another --python",
    "own_cache": "or give --warm-only",
    "lazy_result": f"return what it computes, {_OR_SYNC}",
    "opaque_result": f"return arrays or numbers, in tuples, lists, dicts, dataclasses, {_OR_SYNC}",
    "may_compute": f"nothing to do where that is so; {_OR_SYNC.removeprefix('or ')}",
    "not_opened": f"nothing to do where that is so; {_OR_SYNC.removeprefix('or ')}",
    "computes_when_asked": f"return what it computes, {_OR_SYNC}",
    "threads_at_work": "join what the function starts before it returns",
    "processes_at_work": "wait for what the function starts before it returns",
    "functions_at_exit": "do the work in the call, or register the function once, at import",
    "arrays_unfinished": "return every array that the call computes, or call"
    " jax.block_until_ready on it in the function",
    "gpu_unfinished": "synchronise the device in the function",
    "threads_unfinished": "join what the function starts before it returns",
    "processes_unfinished": "wait for what the function starts before it returns",
    "tasks_unfinished": "await what the function starts before it returns",
    "left_until_exit": "do the work in the call, or register the function once, at import",
    "signal_pending": "do the work in the call",
    "busy_afterwards": "return every array that the call computes, and join what it starts",
    "answers_kept": "quote the figure as that of a repeated call, or let a factory make what is"
    " called without what it keeps",
    "untried": "give the data as arguments of the function, for calls with other data to be made",
    "constants_folded": "give the arrays as arguments of the jitted function",
    "unlike_for_others": "let a factory draw the data, or give them by --input, if it is to answer"
    " for any",
    "slow_after_pause": "quote the figure for calls in a row alone",
    "collecting": "add it, or quote the figure without it as such",
    "not_carried": "make it inside the function, or leave it out of what is pickled (__getstate__)",
    "not_reproducible": "seed its random numbers (such as numpy.random.default_rng(0)), or give"
    " --no-check",
    "reference_not_reproducible": "seed the random numbers of {candidate}, or name another one"
    " first",
    "answers_differ": "where each process draws others, seed it or give --no-check",
    "index_silent": "make the snapshot where there is a network, or name an index with --index",
}
"""By code, what a person can do about it."""

CAUTION_ADVICE: dict[CautionKind, str] = {
    "rejected": "they do not count; see the evidence of these observations",
    "failed": "see stderr_tail of the observation",
    "few": "raise --min-runs",
    "precision": "raise --max-runs or --time-budget, or quieten the machine",
    "noisy": "close other programs, or run again on an idle machine",
    "unsteady": "give it more time with --time-budget, and do not quote its median alone",
    "bimodal": "look at the raw series; frequency changes and memory placement are usual causes",
    "second_call": "do not take it for steady state when you time by hand",
    "uneven": "take the mean for many calls, as totals do",
    "compiled": "look for shapes or types that change from call to call",
    "kept": "empty what it keeps before each run, or quote it as filled",
    "settings": "name them wherever the figures are quoted",
    "bytecode": "run python -m compileall on the folders that they are installed in",
    "counts": "look for what depends on the moment, such as an order of sets or a random shape",
    "other_calls": "quote the figure for the calls that it is of",
    "untried": "give the data as arguments of the function, for calls with other data to be made",
    "allocator": "put `bytes(2**25 - 2**16)` into the program, before its loop",
}
"""By kind of caution, what a person can do about it."""

_SHARES: dict[CautionKind, str] = {
    "rejected": "rejected, because the evidence contradicts the mode",
    "failed": "failed",
    "noisy": "at worst",
    "unsteady": "did not become steady",
    "bimodal": "have two levels",
    "counts": "counted otherwise than most",
}

_SIDES = {"case": "this case", "baseline": "the baseline"}

WRITTEN: dict[str, Callable[[Any], str]] = {
    "drift": lambda change: f"{'falling' if change < 0 else 'rising'} {abs(change):.1%}",
    "mode": mode_name,
    "side": lambda side: _SIDES.get(side, side),
    "label": lambda label: f"{label}: " if label else "",
    "place": lambda place: f" ({place})" if place else "",
    "from": units.from_calls,
    "or": either,
    "size": units.size,
    "time": units.duration,
}


def words(reason: Reason) -> str:
    """Return a reason as a sentence without a full stop, with nothing private in it."""
    parts = "; ".join(map(words, reason.parts))
    return _WORDS.format(WORDS[reason.code], **cleaned(reason.values), parts=parts)


def advice(reason: Reason) -> str:
    """Return what a person can do about it, or about what it rests on; empty where unknown."""
    own = _WORDS.format(ADVICE.get(reason.code, ""), **cleaned(reason.values))
    return own or "; ".join(filter(None, dict.fromkeys(map(advice, reason.parts))))


def with_advice(reason: Reason) -> str:
    """Return the sentence, and after a semicolon what to do."""
    return "; ".join(filter(None, (words(reason), advice(reason))))


def caution_words(caution: Caution) -> str:
    """Return what was seen, in how many processes, without what to do about it."""
    sentence = words(caution.reason)
    share = _SHARES.get(caution.kind)
    if share is None:
        return sentence
    of = counted(caution.of_processes, "process")
    return f"{caution.n_processes} of {of} {share}: {sentence}"


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as the base has it
        if isinstance(value, list) and format_spec != "or":
            return ", ".join(value)
        if format_spec.startswith("# "):
            return counted(value, format_spec[2:])
        write = WRITTEN.get(format_spec)
        return str(super().format_field(value, format_spec)) if write is None else write(value)


_WORDS = _Words()


def counted(number: int, noun: str) -> str:
    """Return ``1 process``, ``2 processes``."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
