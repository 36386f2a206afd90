//! Checks that every name in the journey of ARCHITECTURE.md exists in the code.

use std::path::{Path, PathBuf};

#[test]
fn architecture_journey_names_exist_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let code = read_sources(&root.join("crates")).join("\n");
    let names = journey_names(&page);
    assert!(names.len() > 20, "the journey has too few names: {names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !is_defined(&code, name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what the code does not define: {missing:?}");
}

/// Returns the last part of each back-quoted name in the second column of the journey's table.
fn journey_names(page: &str) -> Vec<String> {
    let section = page.split("## The journey").nth(1).expect("ARCHITECTURE.md has a journey");
    let section = section.split("\n## ").next().unwrap();
    let rows =
        section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| crate"));
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
    }) || [",", " {", "("].iter().any(|end| code.contains(&format!("    {name}{end}"))) // a variant
}

fn read_sources(folder: &Path) -> Vec<String> {
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
