"""What the doctor has seen, in words, by the code of a reason."""

EVIDENCE: dict[str, str] = {
    "doctor_static": (
        "{function} was compiled again {n_again:# time}: its argument `{argument}` is static and"
        " took {n_values:# value}, such as {before}, then {now}"
    ),
    "doctor_no_array": (
        "{function} was compiled again {n_again:# time}: its argument `{argument}` is no array and"
        " took {n_values:# value}, such as {before}, then {now}"
    ),
    "doctor_shape": (
        "{function} was compiled again {n_again:# time}: `{argument}` had {n_values:# shape}, "
        "such as {before}, then {now}"
    ),
    "doctor_dtype": (
        "{function} was compiled again {n_again:# time}: `{argument}` was {before}, then {now}"
    ),
    "doctor_weak_type": (
        "{function} was compiled again {n_again:# time}: `{argument}` was {before}, then {now}"
    ),
    "doctor_tree": (
        "{function} was compiled again {n_again:# time}: the structure of `{argument}` "
        "changed, such as from {before} to {now}"
    ),
    "doctor_type": (
        "{function} was compiled again {n_again:# time}: `{argument}` was {before}, then {now}"
    ),
    "doctor_functions": (
        "{function} was compiled again {n_again:# time}: its argument `{argument}` took"
        " {n_values:# function}, and each of them is a type of its own"
    ),
    "doctor_commitment": (
        "{function} was compiled again {n_again:# time}: `{argument}` was put on a device once "
        "and not the other time"
    ),
    "doctor_sharding": (
        "{function} was compiled again {n_again:# time}: `{argument}` lay in {before}, then in"
        " {now}"
    ),
    "doctor_context": (
        "{function} was compiled again {n_again:# time}: the setting `{argument}` was {before}, "
        "then {now}"
    ),
    "doctor_transform": (
        "{function} was compiled again {n_again:# time}, as part of {before}, then of {now}"
    ),
    "doctor_new_function": (
        "{function} was compiled again {n_again:# time}: each time `jit` got another function "
        "object of the same code"
    ),
    "doctor_new_closure": (
        "{function} was compiled again {n_again:# time}: each time `jit` got another function "
        "object of the same code, which holds `{argument}`: {before}, then {now}"
    ),
    "doctor_number": (
        "{function} was compiled again {n_again:# time}: `{argument}` is a Python number and took"
        " {n_values:# value}, such as {before}, then {now}"
    ),
    "doctor_no_tensor": (
        "{function} was compiled again {n_again:# time}: `{argument}` is no tensor and took"
        " {n_values:# value}, such as {before}, then {now}"
    ),
    "doctor_guard": (
        "{function} was compiled again {n_again:# time}: each time a guard of torch.compile"
        " failed, such as {argument}"
    ),
    "doctor_gave_up": (
        "then torch.compile gave up: calls that fit none of these programs run uncompiled (limit"
        " {n_programs}, torch._dynamo.config.{setting})"
    ),
    "doctor_unknown": (
        "{function} was compiled again {n_again:# time}, and nothing that is watched differed"
    ),
    "doctor_also": "`{argument}` changed {n_times:# time}, such as from {before} to {now}",
    "doctor_too": "`{argument}` changed {n_times:# time}",
    "doctor_more": "{n_arguments:# more argument} changed",
    "doctor_taken": "`{argument}`, which it takes from around it, was another object",
    "doctor_pending": "{clock}() was read {n_reads:# time} while results were still being computed",
    "doctor_thrown_away": (
        "{clock}() was read {n_reads:# time} after calls whose results are not kept: nothing "
        "waited until they were computed"
    ),
    "doctor_first_call": (
        "of the {interval_s:time} between two readings of {clock}(), {compiled_s:time} were "
        "compiling"
    ),
    "doctor_reads": (
        "the loop reads from the device {n_reads:# time}; the program waited for it"
        " {n_waited:# time}, {blocked_s:time} in all, which is {each_s:time} a read"
    ),
    "doctor_reads_ready": (
        "the loop reads from the device {n_reads:# time}, and {n_ready:# time} the value was ready:"
        " it hardly waits here, and with a device that works beside the host it would"
    ),
    "doctor_new_body": (
        "{function} was compiled {n_compiles:# time} outside of `jit`: each time its body was "
        "another function object"
    ),
    "doctor_transfers": "{call} sent {n_transfers:# array} from the host, {sent_bytes:size} in all",
    "doctor_growing": "{call} made arrays of {n_lengths:# length}, each compiled for itself",
    "doctor_constants": (
        "{function} holds {constants_bytes:size} of arrays that it takes from outside of its "
        "arguments"
    ),
    "doctor_equations": "this loop gave {n_equations} of the {n_all:# equation} of {function}",
    "doctor_donation": (
        "{function} takes {argument_names} and gives it back in other memory: "
        "{state_bytes:size} that it could use again"
    ),
    "doctor_effect": (
        "{call}() ran {n_times:# time} while its function was traced, and does not run when "
        "the compiled function is called"
    ),
    "doctor_draw": (
        "{call}() drew random numbers while {function} was traced: each call of the compiled"
        " function gets the same ones"
    ),
    "doctor_error": "{error} was raised here",
    "doctor_operations": (
        "this loop dispatched {n_operations:# operation} one by one, outside of `jit`"
    ),
    "doctor_eager_shapes": (
        "this loop's operations outside of `jit` were compiled again {n_again:# time}: an array"
        " had {n_shapes:# shape}, such as {before}, then {now}"
    ),
    "doctor_list": "{function} takes the list `{argument}` as {n_numbers:# argument} of their own",
    "doctor_changes": (
        "{function} was traced, and changes `{what}`: that happens when it is compiled, and "
        "not when it is called"
    ),
    "doctor_closure": (
        "{function} is kept on disk, and takes another compiled function from around it: what"
        " is kept is never found again"
    ),
    "doctor_key": "{name} uses a key that {first} has used: the same random numbers come again",
    "doctor_break": "torch.compile ends a graph here: {text}",
    "saving_again": "the time of the {n_times:# compilation} that this caused",
    "saving_read": (
        "the time of the {n_times:# program} that this caused, {n_read} of them found in a cache"
    ),
    "saving_other": "{other_names} differed at the same time: both must change",
    "saving_unknown": "it depends on what differed, which is not known",
    "saving_kept": "the time of this compilation, in each later process",
    "saving_turns": (
        "what the loop took to compile, by its share of the equations, less one turn of {n_turns}"
    ),
    "saving_share": (
        "what {equations_share:.0%} of the program took to compile: equations that each number has"
    ),
    "rounds_interrupted": "it was interrupted after {n_rounds} of {n_asked} rounds",
    "rounds_out_of_time": (
        "the time budget was over after {n_rounds} of {n_asked} rounds; more are measured with a"
        " longer --time-budget"
    ),
    "output_not_compared": (
        "its output was not compared: it had not the same number of lines in each run before the"
        " change"
    ),
    "output_all_varies": "all output lines differ from run to run: not compared",
    "cache_not_empty": (
        "{n_reads:# program} were read from a cache on disk that was to be empty: the program sets"
        " a folder of its own, or reads what it wrote itself"
    ),
    "doctor_few_waits": "few of the reads waited, which may have been for the first calls",
    "doctor_wrong_figure": "it makes a figure wrong, and costs no time",
    "doctor_wrong_result": "it makes a result other than what the code says, and costs no time",
    "doctor_once": "it costs no time, and is right where it is to happen once for each compilation",
    "doctor_ended": "an error ended it here",
    "doctor_overlap": "how much the host could do meanwhile is not known",
    "doctor_untimed": "its time is not measured by itself",
    "doctor_depends": "it depends on what takes its place",
    "doctor_memory": "it costs memory",
    "needs_monitoring": (
        "calls, clocks and reads of values can be watched from Python 3.12 on, unless other "
        "tools take all places"
    ),
    "trace_untold": (
        "JAX does not tell of what is traced below jax.grad or jax.vmap; from Python 3.12 on it is"
        " seen all the same"
    ),
    "end_not_seen": (
        "how the program ended: it was killed, left by os._exit, or still runs; its time is told "
        "up to the last event"
    ),
    "program_replaced": (
        "how the time went after the process had replaced its program (as by os.execv); what was "
        "compiled there is told"
    ),
    "jit_off": "what is compiled: `jit` is off in the pass that looks for keys",
    "imported_before": "{frameworks} had been imported before the block began",
    "devices_before": "the devices had been started before the block began",
    "journal_cut": (
        "the program compiled so often that the last part is counted, not told one by one"
    ),
    "killed_before_its_end": "the program was ended before the doctor could say it",
    "called_elsewhere": "it was not called from this line, or not in a way that is watched",
    "no_journal": (
        "anything: the program has left no journal, so nothing is known of it but how long it"
        " took (it deleted the temporary files, the disk is full, or its Python takes no"
        " PYTHONPATH)"
    ),
    "pass_ended": (
        "what the pass for {what} looks for, at least in part: it ended with {status}, the program"
        " by itself with {usual}"
    ),
    "pass_unseen": "what the pass for {what} looks for: it has left no journal",
    "pass_left_out": "what the pass for {what} looks for: the program was killed before",
    "lines_lost": (
        "{n_lines:# line} of the journal could not be written: the disk was full, or the program"
        " closed the file"
    ),
    "memory_not_shown": (
        "nothing was compiled to the end, or its framework does not show the memory of programs"
    ),
    "ended_compiling": (
        "it ended while {function} was being traced or compiled at {at}: how long that took"
        " is in no figure"
    ),
    "doctor_failed": (
        "the doctor itself failed at {at} with {error}: something may be missing here"
    ),
}
