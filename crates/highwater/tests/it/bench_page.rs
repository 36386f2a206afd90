//! Keeps the figures in `docs/bench.md`: README and other pages point to them.

use std::path::Path;

/// The tables of the page, and the least number of rows each must have.
const TABLES: [(&str, usize); 2] = [("pulls", 8), ("searches", 8)];

#[test]
fn bench_page_has_the_figures_of_its_benchmarks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench.md");
    let page = std::fs::read_to_string(path).unwrap();
    for (name, least) in TABLES {
        let rows = count_rows_with_figures(&page, name);
        assert!(
            rows >= least,
            "docs/bench.md has {rows} rows with figures for {name}; run `HIGHWATER_UPDATE_DOCS=1 cargo bench`"
        );
    }
}

#[test]
fn bench_page_without_rows_is_noticed() {
    let page =
        "<!-- begin pulls -->\n| what | time |\n|---|---|\n| cold | 1.0 s |\n<!-- end pulls -->\n";
    assert_eq!(count_rows_with_figures(page, "pulls"), 1);
    assert_eq!(count_rows_with_figures("<!-- begin pulls -->\n<!-- end pulls -->\n", "pulls"), 0);
    assert_eq!(count_rows_with_figures("", "pulls"), 0);
}

/// Counts the rows between a table's markers whose cells have digits, the first cell apart.
fn count_rows_with_figures(page: &str, name: &str) -> usize {
    let begin = format!("<!-- begin {name} -->");
    let end = format!("<!-- end {name} -->");
    let Some((_, rest)) = page.split_once(&begin) else { return 0 };
    let Some((table, _)) = rest.split_once(&end) else { return 0 };
    table.lines().filter(|line| line.starts_with('|') && has_figures(line)).count()
}

fn has_figures(row: &str) -> bool {
    row.split('|').skip(2).any(|cell| cell.chars().any(|c| c.is_ascii_digit()))
}
