"""Texts about snapshots: files of strangers, keys, and what does not agree."""

from coldwarm.contracts.reasons import Codes, declare

_REASONS = {
    "unit_elsewhere": "its unit is {unit}; only seconds and bytes are compared",
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
    "other_contract": "is {found}, where {expected} belongs; verify it with the version of"
    " coldwarm that made it, which baseline_manifest.json names",
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
    "archive_leads_out": "the archive names {path}, which leads out of its folder: nothing of it"
    " is used",
    "archive_entry": "in the archive, {path} {parts}",
    "archive_twice": "the archive has {path} twice: nothing of it is used",
    "no_room_to_unpack": "{folder} cannot take what is unpacked: {text}; free some space there, or"
    " set TMPDIR to another folder (nothing is said of the archive)",
    "key_not_read": "{file} holds no {kind} key that can be read; openssl genpkey -algorithm"
    " ed25519 makes a private one, openssl pkey -pubout the public one of it",
    "key_encrypted": "{file} has a passphrase, and signing asks for none: write it without one"
    " into a place of your own (openssl pkey -in FILE -out key.pem), and remove that afterwards",
    "key_of_other_kind": "{file} is a key of another kind than Ed25519; openssl genpkey -algorithm"
    " ed25519 makes one",
    "not_signed": "is not there: the snapshot is not signed",
    "signature_of_other_length": "is no signature of Ed25519, which has {n_needed} bytes",
    "signature_differs": "is no signature of this snapshot_index.json by the key that lies beside"
    " it",
    "nothing_else_tells": "{holds}",
    "said_otherwise": "{text}; another version of coldwarm says so",
    "other_rules": "{n_values:# value} that today's rules make otherwise",
    "written_otherwise": "says what the runs say, in other bytes than this version writes, so that"
    " more may stand in it",
    "of_other_rules": "made of figures that today's rules make otherwise",
    "not_made_again": "not checked, as it cannot be made again here: {text}",
    "made_otherwise": "not checked: this version makes another one of the runs, so do not open it"
    " unless you trust its maker; coldwarm report makes one",
    "bundle_not_asked": "not checked: --identity and --issuer name who must have signed",
    "signature_not_asked": "not checked: name the key of its maker with --public-key",
    "packed_otherwise": "not packed by coldwarm snapshot package, so it has bytes of its own"
    " beside the files, which nothing checks",
    "empty_folder": "is a folder without a file, which no snapshot has: remove it",
    "archive_more": "{file} goes on after its archive ends: only what coldwarm snapshot package"
    " has written is read",
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
    "own_functions": "{case} cannot be repeated from the snapshot: {parts}; run coldwarm bench on"
    " that file, and compare the two with coldwarm compare",
    "code_left_out": "its file is not in the snapshot; snapshot create --with-code puts it in",
    "code_not_recorded": "what the bench was asked for is not recorded: it was called from Python,"
    " or with --leave-out-private, or by an earlier version",
    "code_with_option": "the bench was run with {option}, whose value is of that machine alone",
    "code_differs": "the file of {case} in the snapshot is not the one that it was measured with;"
    " nothing was run",
    "no_options": "{folder} does not say by which options it was measured",
    "folder_not_empty": "{folder} is no new or empty folder; choose another --out",
    "no_index_asked": "no package index was asked",
}
declare(Codes(_REASONS))
