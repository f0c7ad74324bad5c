//! Looks at a file after every instruction of the process that updates it in place. The contents at
//! that moment are what would be left if the process were killed there.
#![cfg(all(feature = "mmap", target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "the system calls that trace a process have no safe form; each pointer is to a local variable")]

use std::path::Path;
use std::process::{Child, Command};
use truebloom::file::InPlace;
use truebloom::{BloomFilter, FileHeader};

const FILE: &str = "TRUEBLOOM_STEPPED_FILE";
const UPDATE: &str = "TRUEBLOOM_STEPPED_UPDATE";

fn open(path: &Path) -> InPlace {
    // SAFETY: no other program writes to the file.
    unsafe { InPlace::open(path) }.expect("nobody else has it")
}

/// The child process: stops itself before the update, so that its parent can follow each step.
fn update(path: &Path, which: &str) {
    let mut filter = (which != "open").then(|| open(path));
    if let Some(filter) = &mut filter {
        filter.insert_all(0..3u64);
    }
    // SAFETY: neither call uses a pointer.
    unsafe {
        assert_eq!(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0), 0, "this system allows no tracing");
        libc::raise(libc::SIGSTOP);
    }
    match filter {
        None => drop(open(path)),
        Some(mut filter) if which == "sync" => filter.sync().expect("synced"),
        Some(filter) => filter.close().expect("closed"),
    }
}

/// A process that ends with this value, also if a test fails while the process is stopped.
struct Ended {
    child: Child,
    /// Whether this program has waited for the whole process, and not only for the traced thread.
    /// The system may then give the number of the process to another one.
    reaped: bool,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// Waits until a traced thread stops, and returns its number; `None` if it ended.
    fn stopped(&mut self) -> Option<libc::pid_t> {
        let mut status = 0;
        // SAFETY: `status` is a local variable. This program has only one child.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        let is_stopped = libc::WIFSTOPPED(status);
        self.reaped = !is_stopped && u32::try_from(thread) == Ok(self.child.id());
        assert!(is_stopped || libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child failed: {status}");
        is_stopped.then_some(thread)
    }

    /// Counts the different headers that the file has while the child works. All of them must be
    /// complete.
    fn whole_headers(&mut self, path: &Path) -> usize {
        let (mut last, mut found) = (Vec::new(), 0);
        while let Some(thread) = self.stopped() {
            let header = std::fs::read(path).expect("there")[..256].to_vec();
            if header != last {
                let read = FileHeader::from_bytes(&header);
                assert!(read.is_ok(), "after {found} whole headers: {read:?}");
                (last, found) = (header, found + 1);
            }
            // SAFETY: no pointer is used.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, thread, 0, 0) }, 0, "the child is traced");
        }
        found
    }
}

#[test]
fn a_killed_process_leaves_a_whole_header() {
    if let (Some(path), Ok(which)) = (std::env::var_os(FILE), std::env::var(UPDATE)) {
        return update(Path::new(&path), &which);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stepped.tbl");
    for which in ["open", "sync", "close"] {
        BloomFilter::with_bits_and_probes(64, 1).expect("small").save(&path).expect("saved");
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        let child = command
            .args(["--exact", "a_killed_process_leaves_a_whole_header", "--test-threads", "1"])
            .env(FILE, &path)
            .env(UPDATE, which)
            .spawn()
            .expect("started");
        let mut ended = Ended { child, reaped: false };
        let headers = ended.whole_headers(&path);
        assert!(headers >= 2, "{which} wrote {headers} headers");
    }
}
