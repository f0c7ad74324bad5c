"""Plants faults in the border between Python and Rust, and shows that the tests named beside each reject it: `python3 python/tests/faults.py [NAME...]`, in the environment that `python/test.sh`
leaves in `target/python/venv`.

The tree itself is not touched. A copy gets all faults at once, each behind a switch that an environment variable turns on, so one build serves them all (a minute or two after
`python/test.sh`; then some seconds a fault). Without a fault all named tests pass; with one, at least one of them fails, or the interpreter crashes or hangs. Exits with 1 where a fault is missed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120
SWITCH = '''
/// Faults for tests, planted by a script.
pub(crate) fn fault(name: &str) -> bool {
    static ON: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| std::env::var("TRUEBLOOM_FAULT").unwrap_or_default());
    *ON == name
}
'''


@dataclass
class Fault:
    """What stands in a file of `crates/python/src`, what is put there instead, and the tests that must notice."""

    name: str
    file: str
    stands: str
    planted: str
    tests: str


FAULTS = [
    Fault("an offset beyond the bytes", "arrow/column.rs", "&& to <= end)", "&& (to <= end || FAULT))", "test_batches.py::test_an_offset_beyond_the_bytes_is_noticed_before_the_next_block"),
    Fault("offsets in no order", "arrow/column.rs", "&& from <= to &&", "&& (FAULT || from <= to) &&", "test_batches.py::test_offsets_out_of_order_are_an_error"),
    Fault("a view beyond its buffer", "arrow/column.rs", "i64::from(length) <= *bytes)", "i64::from(length) <= *bytes || FAULT)", "test_batches.py::test_views_and_indexes_beyond_their_buffers_are_errors"),
    Fault("an index beyond its dictionary", "arrow/column.rs", "filter(|index| *index < values.len)", "filter(|index| *index < values.len || FAULT)", "test_batches.py::test_views_and_indexes_beyond_their_buffers_are_errors"),
    Fault("a table of one column forgets its nulls", "arrow/column.rs", "field.outer.extend(valid.map(|bits| (bits, offset)));", "if !FAULT { field.outer.extend(valid.map(|bits| (bits, offset))) };", "test_batches.py::test_a_table_of_one_column_is_that_column_with_nulls_too"),
    Fault("a slice of a table begins at its first row", "arrow/column.rs", "if !field.push(self.offset + row, to)? {", "if !field.push(if FAULT { row } else { self.offset + row }, to)? {", "test_batches.py::test_tables_are_tuples"),
    Fault("a block of long rows loses one", "arrow/column.rs", "return Ok(row);", "return Ok(row + usize::from(FAULT));", "test_batches.py::test_long_rows_of_structs_are_cut_into_blocks"),
    Fault("a capsule is given away twice", "arrow/abi.rs", "unsafe { ptr::replace(from, $type::none()) }", "unsafe { if FAULT { ptr::read(from) } else { ptr::replace(from, $type::none()) } }", "test_batches.py::test_broken_arrow_is_an_error"),
    Fault("fields without their lengths", "key.rs", "extend(to, &(bytes.len() as u64).to_le_bytes())?;", "if !FAULT { extend(to, &(bytes.len() as u64).to_le_bytes())? };", "test_keys.py::test_the_bytes_of_keys_are_those_of_rust"),
    Fault("negative numbers lose their sign", "key.rs", "return Ok(signed as u64);", "return Ok(if FAULT { u64::from(signed as u32) } else { signed as u64 });", "test_keys.py::test_the_bytes_of_keys_are_those_of_rust"),
    Fault("an interrupt becomes a wrong key", "key.rs", "Err(error) if error.is_instance_of::<PyTypeError>(py)", "Err(error) if FAULT || error.is_instance_of::<PyTypeError>(py)", "test_keys.py::test_what_an_index_raises_is_raised"),
    Fault("a view of bytes is many keys", "batch/mod.rs", "|| is_view_of_bytes(keys)", "|| !FAULT && is_view_of_bytes(keys)", "test_keys.py::test_one_key_is_not_many"),
    Fault("answers lose a carry", "batch/outcome.rs", "if left.min(64) + shift > 64 {", "if left.min(64) + shift > 64 && !FAULT {", "test_batches.py"),
    Fault("the hashes of threads change places", "batch/columns.rs", "all.extend(part?);", "if FAULT { all.splice(..0, part?); } else { all.extend(part?) };", "test_batches.py"),
    Fault("a batch is deaf to interrupts", "batch/columns.rs", "py.check_signals()?;", "if !FAULT { py.check_signals()? };", "test_filter.py::test_an_interrupt_is_heard"),
    Fault("a subclass is lost", "bloom/mod.rs", "if class.is(&plain) || class.is(&growing) {", "if FAULT || class.is(&plain) || class.is(&growing) {", "test_subclasses.py::test_a_subclass_stays_one"),
    Fault("an intersection is a union", "bloom/held.rs", "Merge::Intersection => ours.intersect_with(theirs),", "Merge::Intersection => if FAULT { ours.union_with(theirs) } else { ours.intersect_with(theirs) },", "test_filter.py::test_it_is_a_set"),
    Fault("locks in no order", "shared.rs", "let (mut ours, theirs) = if ptr::from_ref(self) < ptr::from_ref(other) {", "let (mut ours, theirs) = if FAULT || ptr::from_ref(self) < ptr::from_ref(other) {", "test_filter.py::test_two_filters_merged_both_ways_at_once"),
    Fault("a pickle forgets attributes", "bloom/files.rs", "(bytes,), attributes(slf)?))", "(bytes,), if FAULT { None } else { attributes(slf)? }))", "test_subclasses.py::test_its_attributes_are_kept"),
    Fault("bytes are read with the interpreter held", "given.rs", "return Ok(py.detach(|| read(bytes)));", "return Ok(if FAULT { read(bytes) } else { py.detach(|| read(bytes)) });", "test_filter.py::test_other_threads_run_during_a_long_call"),
    Fault("the numbers of an error are lost", "errors.rs", "attributes.set_item(\"errno\", code)", "attributes.set_item(\"errno\", if FAULT { None } else { code })", "test_files.py::test_missing_and_forbidden"),
]  # fmt: skip


def plant(folder: Path) -> None:
    """A copy of the package with all faults in its native half, which stands on the crates of the tree itself."""
    shutil.copytree(ROOT / "crates/python", folder / "crates/python")
    shutil.copytree(ROOT / "python", folder / "python")
    manifest = folder / "crates/python/Cargo.toml"
    manifest.write_text(re.sub(r'path = "\.\./', f'path = "{ROOT}/crates/', manifest.read_text()))
    source = folder / "crates/python/src"
    for fault in FAULTS:
        text = (source / fault.file).read_text()
        if fault.stands not in text:
            sys.exit(f"{fault.name}: the place of the fault is gone from {fault.file}")
        switch = f'crate::fault("{fault.name}")'
        (source / fault.file).write_text(text.replace(fault.stands, fault.planted.replace("FAULT", switch)))
    with (source / "lib.rs").open("a") as file:
        file.write(SWITCH)


def build(folder: Path) -> None:
    """The wheel of the copy, unpacked."""
    environment = {**os.environ, "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target/python/cargo"))}
    command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", str(folder / "wheels")]
    subprocess.run(command, check=True, env=environment, cwd=folder / "python")
    (wheel,) = (folder / "wheels").glob("*.whl")
    shutil.unpack_archive(wheel, folder / "package", "zip")


def fails(folder: Path, fault: str, tests: str) -> str:
    """How these tests end with a fault; empty if they pass."""
    environment = {**os.environ, "TRUEBLOOM_FAULT": fault, "PYTHONPATH": str(folder / "package"), "TRUEBLOOM_ROOT": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-c", str(ROOT / "python/pyproject.toml"), "--rootdir", str(ROOT / "python")]
    try:
        done = subprocess.run([*command, f"{ROOT}/python/tests/{tests}"], env=environment, capture_output=True, text=True, timeout=LIMIT, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"they hang ({LIMIT} s)"
    if done.returncode < 0:
        return f"the interpreter crashes (signal {-done.returncode})"
    if done.returncode > 1:
        sys.exit(done.stdout + done.stderr)
    return "they fail" if done.returncode else ""


def main(names: list[str]) -> None:
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plant(folder)
        build(folder)
        for tests in sorted({fault.tests for fault in chosen}):
            if found := fails(folder, "", tests):
                sys.exit(f"without a fault, {tests}: {found}")
        for fault in chosen:
            found = fails(folder, fault.name, fault.tests)
            missed += not found
            print(f"{'rejected' if found else 'MISSED  '} {fault.name} ({fault.file}): {found or 'nothing fails'} of {fault.tests}", flush=True)
    print(f"{len(chosen) - missed} passed, {missed} failed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main(sys.argv[1:])
