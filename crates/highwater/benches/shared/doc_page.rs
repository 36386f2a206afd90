//! Writes a benchmark's table into `docs/bench.md`, between two markers, so that the page cannot lose its figures.

use std::path::Path;

/// Replaces the table of this name in the page if `HIGHWATER_UPDATE_DOCS` is set; without it, nothing is written.
#[expect(clippy::disallowed_methods, reason = "a benchmark's environment is its argument")]
pub(crate) fn update_table(name: &str, table: &str) {
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_none() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench.md");
    let page = std::fs::read_to_string(&path).expect("docs/bench.md is part of the repository");
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let (before, rest) = page.split_once(&begin).expect("the page has a marker for each table");
    let (_, after) = rest.split_once(&end).expect("each table has an end marker");
    let page = format!("{before}{begin}\n{}\n\n{end}{after}", table.trim());
    std::fs::write(&path, page).expect("docs/bench.md can be written");
}
