//! Runs the targets on the committed corpora.

use std::path::Path;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 9] = [
    ("decode", super::decode::decode),
    ("records", super::records::records),
    ("eval", super::eval::eval),
    ("text", super::text::text),
    ("operations", super::operations::operations),
    ("kernels", super::kernels::kernels),
    ("numeric", super::numeric::numeric),
    ("travel", super::travel::travel),
    ("views", super::views::views),
];

pub(crate) fn all() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpora = here.ancestors().map(|folder| folder.join("fuzz/corpus")).find(|folder| folder.is_dir()).expect("fuzz/corpus");
    for (name, target) in TARGETS {
        let files = std::fs::read_dir(corpora.join(name)).unwrap_or_else(|error| panic!("fuzz/corpus/{name}: {error}"));
        let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        paths.sort();
        assert!(paths.len() >= 10, "the corpus of {name} is missing");
        for path in &paths {
            // If a target panics, the last line names its input.
            println!("{}", path.display());
            target(&std::fs::read(path).expect("a file of the corpus"));
        }
        println!("{name}: {} inputs", paths.len());
    }
}
