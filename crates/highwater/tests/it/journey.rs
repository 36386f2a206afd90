//! The journey in ARCHITECTURE.md can be followed in the code, name by name.

use std::path::{Path, PathBuf};

#[test]
fn every_name_on_the_journey_is_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let code = sources(&root.join("crates")).join("\n");
    let names = journey(&page);
    assert!(20 < names.len(), "the journey is a journey: {names:?}");
    let lost: Vec<&String> = names.iter().filter(|name| !is_defined(&code, name)).collect();
    assert!(lost.is_empty(), "ARCHITECTURE.md speaks of what the code does not have: {lost:?}");
}

/// The last part of each back-quoted name in the second column of the journey's table.
fn journey(page: &str) -> Vec<String> {
    let section = page.split("## The journey").nth(1).expect("there is a journey");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| room"));
    let calls = rows.filter_map(|row| row.split(" | ").nth(1));
    let spans = calls.flat_map(|call| call.split('`').skip(1).step_by(2));
    spans.map(|span| span.rsplit("::").next().unwrap().to_owned()).collect()
}

fn is_defined(code: &str, name: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    ["fn ", "struct ", "enum "].iter().any(|kind| {
        let definition = format!("{kind}{name}");
        code.match_indices(&definition)
            .any(|(at, _)| ends(code[at + definition.len()..].chars().next()))
    }) || code.contains(&format!("    {name},")) // a variant
}

fn sources(folder: &Path) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}
