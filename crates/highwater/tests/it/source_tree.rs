//! Checks of the source tree that the compiler does not make: dependencies between crates, undeclared files, paired
//! migrations, documents that match the code.
//!
//! A failing check says what to do. No check changes a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let manifests: BTreeMap<String, BTreeSet<String>> = crate_folders()
        .iter()
        .map(|dir| (file_name(dir), manifest_libraries(&read_manifest(dir))))
        .collect();
    assert_no_problems(forbidden_dependencies(&read_text("ARCHITECTURE.md"), &manifests));
}

#[test]
fn frontends_write_only_what_their_user_decides() {
    let folders =
        ["hw-mcp", "hw-web", "hw-tui"].map(|name| workspace_root().join("crates").join(name));
    let sources = folders.iter().flat_map(|folder| list_files(&folder.join("src")));
    let problems = sources.filter(|file| is_rust(file)).filter_map(|file| {
        let source = fs::read_to_string(&file).unwrap();
        let handle = find_writing_handle(&source)?;
        Some(format!(
            "{}: uses {handle}, which can write anything; a frontend uses DecisionWriter",
            display_path(&file)
        ))
    });
    assert_no_problems(problems.collect::<Vec<_>>());
}

#[test]
fn source_files_are_declared_by_their_crate() {
    let mut problems = Vec::new();
    for dir in crate_folders() {
        let mut reached = BTreeSet::new();
        for root in crate_roots(&dir) {
            collect_modules(&root, true, &mut reached);
        }
        let all = ["src", "tests"].iter().flat_map(|part| list_files(&dir.join(part)));
        for file in all.filter(|file| is_rust(file) && !reached.contains(file)) {
            problems.push(format!(
                "{}: no module declares it, so it is not compiled; add `mod {};` to its parent or delete it",
                display_path(&file),
                file.file_stem().unwrap().display(),
            ));
        }
    }
    assert_no_problems(problems);
}

#[test]
fn crates_have_a_suite_in_check() {
    let check = read_text("check");
    let is_run = |name: &String| {
        let mut suites = check.lines().filter_map(|line| line.trim().strip_prefix("suite "));
        suites.any(|suite| suite.split_whitespace().nth(1) == Some(name))
    };
    let forgotten =
        crate_folders().into_iter().map(|dir| file_name(&dir)).filter(|name| !is_run(name));
    assert_no_problems(forgotten.map(|name| format!("{name}: no suite of ./check runs its tests")));
}

#[test]
fn planted_bugs_are_listed_with_the_tests_that_kill_them() {
    let table = read_text("docs/testing.md");
    let mut problems = Vec::new();
    for file in list_files(&workspace_root().join("planted")) {
        let Some(name) = file_name(&file).strip_suffix(".patch").map(str::to_owned) else {
            continue;
        };
        let patch = fs::read_to_string(&file).unwrap();
        let killer = patch.lines().find_map(|line| line.strip_prefix("Killed by: "));
        let test = killer.and_then(|killer| killer.split_whitespace().last());
        let Some(test) = test else {
            problems.push(format!("planted/{name}.patch: no line `Killed by: … TEST`"));
            continue;
        };
        if !table.contains(&format!("| `{name}` | `{test}` |")) {
            problems.push(format!("docs/testing.md: no row with `{name}` | `{test}`"));
        }
    }
    assert_no_problems(problems);
}

#[test]
fn migrations_exist_for_both_databases() {
    let names =
        |database| file_names(&workspace_root().join("crates/hw-store/migrations").join(database));
    assert_no_problems(unpaired_migrations(&names("sqlite"), &names("postgres")));
}

#[test]
fn placeholders_appear_in_the_order_of_their_numbers() {
    let mut problems = Vec::new();
    let mut with_placeholders = 0;
    for file in list_files(&workspace_root().join("crates/hw-store/src"))
        .iter()
        .filter(|file| is_rust(file))
    {
        for text in string_literals(&fs::read_to_string(file).unwrap()) {
            with_placeholders += usize::from(text.contains("$1"));
            if let Some(problem) = find_disordered_parameter(&text) {
                problems.push(format!("{}: {problem}", display_path(file)));
            }
        }
    }
    assert!(with_placeholders > 0, "no statement was found in hw-store, so nothing was proven");
    assert_no_problems(problems);
}

#[test]
fn commands_are_documented() {
    let help = Command::new(env!("CARGO_BIN_EXE_highwater")).arg("--help").output().unwrap();
    let commands = help_commands(&String::from_utf8(help.stdout).unwrap());
    assert!(
        !commands.is_empty(),
        "`highwater --help` lists no commands under `Commands:`; if its layout changed, change `help_commands` in source_tree.rs"
    );
    let documents =
        format!("{}\n{}", read_optional_text("README.md"), read_optional_text("docs/cli.md"));
    let unknown =
        commands.iter().filter(|name| !has_word(&documents, &format!("highwater {name}")));
    assert_no_problems(unknown.map(|name| {
        format!(
            "`highwater {name}` is in neither README.md nor docs/cli.md; write down what it does"
        )
    }));
}

#[test]
fn files_contain_no_path_of_the_machine_they_were_written_on() {
    let homes = ["work", "root", "home", "Users"].map(|name| format!("/{name}/"));
    let mut problems = Vec::new();
    for file in list_files(workspace_root()) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for (number, line) in text.lines().enumerate() {
            if let Some(home) = homes.iter().find(|home| has_path(line, home)) {
                let location = format!("{}:{}", display_path(&file), number + 1);
                problems.push(format!(
                    "{location}: has a path below {home}; write it relative, or with `~`"
                ));
            }
        }
    }
    assert_no_problems(problems);
}

#[test]
fn architecture_page_stays_short() {
    let lines = read_text("ARCHITECTURE.md").lines().count();
    assert!(
        lines < 250,
        "ARCHITECTURE.md has {lines} lines; keep it under 250: keep the map, the journey, the invariants and the glossary, and move the rest to docs/"
    );
}

#[test]
fn requirements_name_only_tests_that_exist() {
    let mut functions = BTreeSet::new();
    for file in crate_folders().iter().flat_map(|dir| list_files(dir)).filter(|file| is_rust(file))
    {
        functions.extend(functions_in(&fs::read_to_string(file).unwrap()));
    }
    let named = tests_named(&read_text("docs/requirements.md"));
    let missing = named.into_iter().filter(|(_, name)| !functions.contains(name));
    assert_no_problems(missing.map(|(line, name)| {
        format!("docs/requirements.md:{line}: no test is called `{name}`; write it, or name the test that covers this")
    }));
}

#[test]
fn printing_goes_through_the_one_sink() {
    let sink = workspace_root().join("crates/highwater/src/terminal.rs");
    let sources = crate_folders().into_iter().flat_map(|dir| list_files(&dir.join("src")));
    let sources: Vec<PathBuf> = sources.filter(|file| is_rust(file)).collect();
    assert!(sources.contains(&sink) && is_printing(&fs::read_to_string(&sink).unwrap()));
    // the pull screen draws on its own
    let is_pull_screen = |file: &Path| {
        display_path(file).contains("hw-tui") || display_path(file).contains("pull_screen")
    };
    let others = sources.iter().filter(|file| **file != sink && !is_pull_screen(file));
    let printing = others.filter(|file| is_printing(&fs::read_to_string(file).unwrap()));
    assert_no_problems(printing.map(|file| {
        format!("{}: writes to stdout or stderr itself; use highwater's terminal.rs, which cleans and masks", display_path(file))
    }));
}

// Proof that each check can fail.

#[test]
fn crate_check_finds_a_forbidden_dependency() {
    let table = "## Dependencies between crates\n\n| crate | may use | reason |\n|---|---|---|\n\
                 | a | — | x |\n| `b` | `a` | x |\n| gone | — | x |\n\n## Next\n| c | a | x |\n";
    let uses = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let manifests = [("a", uses(&["b", "serde"])), ("b", uses(&["a"])), ("c", uses(&[]))]
        .map(|(k, v)| (k.to_owned(), v));
    let problems = forbidden_dependencies(table, &BTreeMap::from(manifests));
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].starts_with("crates/a/Cargo.toml: uses b"));
    assert!(problems[1].starts_with("crates/c: not in"));
    assert!(problems[2].starts_with("ARCHITECTURE.md: lists gone"));
}

#[test]
fn frontend_check_finds_a_handle_that_writes_anything() {
    assert_eq!(
        find_writing_handle("use hw_store::{StoreError, StoreWriter};"),
        Some("StoreWriter")
    );
    assert_eq!(find_writing_handle("store: LeasedStore,"), Some("LeasedStore"));
    assert_eq!(find_writing_handle("use hw_store::{DecisionWriter, StoreReader};"), None);
}

#[test]
fn module_check_reads_past_attributes_and_comments() {
    let source = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n// mod no;\npub(crate) mod yes;\nmod inline {\n}\n";
    let found = [(Some("x_tests.rs".to_owned()), "tests".to_owned()), (None, "yes".to_owned())];
    assert_eq!(module_declarations(source), found);
}

#[test]
fn migration_check_finds_a_missing_twin_or_number() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let whole = names(&["0001_a.sql", "0002_b.sql"]);
    assert_eq!(unpaired_migrations(&whole, &whole).len(), 0);
    assert_eq!(unpaired_migrations(&whole, &names(&["0001_a.sql"])).len(), 1);
    let hole = names(&["0001_a.sql", "0003_c.sql"]);
    assert_eq!(unpaired_migrations(&hole, &hole).len(), 1);
    assert_eq!(unpaired_migrations(&[], &[]).len(), 1);
}

#[test]
fn placeholder_check_finds_a_wrong_order() {
    let source = "let a = \"select $1, $2, $1\"; // \"select $9\"\nlet c = '\"'; let b = r#\" update t set x = $2 \"#;";
    let found: Vec<_> = string_literals(source)
        .iter()
        .map(|text| find_disordered_parameter(text).is_some())
        .collect();
    assert_eq!(found, [false, true]);
    assert!(find_disordered_parameter("select $1, $3").is_some());
    assert!(find_disordered_parameter("it costs $5").is_none());
}

#[test]
fn path_check_ignores_the_middle_of_a_url() {
    let home = format!("/{}/", "work");
    assert!(has_path(&format!("see {home}notes"), &home));
    assert!(!has_path(&format!("https://example.com{home}notes"), &home));
}

#[test]
fn printing_check_finds_a_second_sink() {
    assert!(
        is_printing("std::io::stdout().lock()")
            && is_printing("use std::io::{stderr, Write};\nstderr()")
    );
    assert!(!is_printing("command.stdout(Stdio::null())") && !is_printing("output.stderr"));
}

// Dependencies between crates.

fn forbidden_dependencies(
    architecture: &str,
    manifests: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let table = parse_dependency_table(architecture);
    let mut problems = Vec::new();
    for (name, libraries) in manifests {
        let Some(allowed) = table.get(name) else {
            problems.push(format!(
                "crates/{name}: not in the table under `{DEPENDENCY_HEADING}` in ARCHITECTURE.md; add it there"
            ));
            continue;
        };
        for used in libraries.iter().filter(|used| manifests.contains_key(*used)) {
            if !allowed.contains(used) {
                problems.push(format!(
                    "crates/{name}/Cargo.toml: uses {used}, which ARCHITECTURE.md does not let it use; \
                     drop the dependency, or change the table there and say why"
                ));
            }
        }
    }
    for name in table.keys().filter(|name| !manifests.contains_key(*name)) {
        problems
            .push(format!("ARCHITECTURE.md: lists {name}, which is not a crate; remove its row"));
    }
    problems
}

/// Returns the handle of the store that a source uses and that a frontend must not have.
fn find_writing_handle(source: &str) -> Option<&'static str> {
    ["StoreWriter", "LeasedStore"].into_iter().find(|handle| has_word(source, handle))
}

const DEPENDENCY_HEADING: &str = "## Dependencies between crates";

/// Parses the table `| crate | may use | reason |`, where the second cell is a comma-separated list or `—`.
fn parse_dependency_table(architecture: &str) -> BTreeMap<String, BTreeSet<String>> {
    let section =
        architecture.lines().skip_while(|line| line.trim_end() != DEPENDENCY_HEADING).skip(1);
    let rows =
        section.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    let rows = rows.skip(2).map(|row| {
        let cells: Vec<String> =
            row.split('|').map(|cell| cell.replace('`', "").trim().to_owned()).collect();
        assert!(
            cells.len() == 5,
            "ARCHITECTURE.md: a row under `{DEPENDENCY_HEADING}` needs three cells: {row}"
        );
        let allowed =
            cells[2].split(',').map(|name| name.trim().to_owned()).filter(|name| name != "—");
        (cells[1].clone(), allowed.collect())
    });
    rows.collect()
}

/// Returns the dependencies of the crate itself, without those of its tests.
fn manifest_libraries(manifest: &toml::Table) -> BTreeSet<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables =
        platforms.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    let tables = tables.chain([manifest]);
    let kinds =
        tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
    let entries = kinds.flatten().filter_map(toml::Value::as_table).flatten();
    let names = entries
        .map(|(key, entry)| entry.get("package").and_then(toml::Value::as_str).unwrap_or(key));
    names.map(str::to_owned).collect()
}

// Modules.

/// Returns the files a compiler starts from: the default ones, and those the manifest names.
fn crate_roots(dir: &Path) -> Vec<PathBuf> {
    let manifest = read_manifest(dir);
    let one = manifest.get("lib").into_iter();
    let many =
        ["bin", "test"].into_iter().filter_map(|kind| manifest.get(kind)?.as_array()).flatten();
    let named = one.chain(many).filter_map(|target| Some(dir.join(target.get("path")?.as_str()?)));
    let mut roots: Vec<PathBuf> =
        named.chain(["src/lib.rs", "src/main.rs"].map(|root| dir.join(root))).collect();
    for folder in ["src/bin", "tests"] {
        for entry in list_folder(&dir.join(folder)) {
            roots.push(if entry.is_dir() { entry.join("main.rs") } else { entry });
        }
    }
    roots.retain(|root| root.is_file() && is_rust(root));
    roots
}

fn collect_modules(file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    if !file.is_file() || !reached.insert(file.to_owned()) {
        return;
    }
    let folder = file.parent().unwrap();
    let is_root = is_root || file.ends_with("mod.rs");
    let below = if is_root { folder.to_owned() } else { file.with_extension("") };
    for (path, name) in module_declarations(&fs::read_to_string(file).unwrap()) {
        match path {
            Some(path) => collect_modules(&folder.join(path), false, reached),
            None => {
                collect_modules(&below.join(format!("{name}.rs")), false, reached);
                collect_modules(&below.join(name).join("mod.rs"), false, reached);
            }
        }
    }
}

/// Returns every `mod name;` with the `#[path]` before it.
fn module_declarations(source: &str) -> Vec<(Option<String>, String)> {
    let mut found = Vec::new();
    let mut path = None;
    for line in source.lines() {
        let mut rest = line.trim();
        while let Some((attribute, after)) =
            rest.strip_prefix("#[").and_then(|rest| rest.split_once(']'))
        {
            let value = attribute.strip_prefix("path").and_then(|value| value.split('"').nth(1));
            path = value.map(str::to_owned).or(path);
            rest = after.trim_start();
        }
        if rest.is_empty() || rest.starts_with("//") {
            continue;
        }
        let path = path.take();
        if let Some(name) = declared_module(rest) {
            found.push((path, name.to_owned()));
        }
    }
    found
}

fn declared_module(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(')')?.1.trim_start(),
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    Some(line.strip_prefix("mod ")?.split_once(';')?.0.trim())
}

// SQL.

fn unpaired_migrations(sqlite: &[String], postgres: &[String]) -> Vec<String> {
    let (left, right): (BTreeSet<_>, BTreeSet<_>) =
        (sqlite.iter().collect(), postgres.iter().collect());
    let mut problems = Vec::new();
    for name in left.symmetric_difference(&right) {
        problems.push(format!(
            "crates/hw-store/migrations: {name} exists for one database only; write its twin, which may be empty"
        ));
    }
    for (number, name) in left.union(&right).enumerate() {
        let number = format!("{:04}_", number + 1);
        if !name.starts_with(&number) {
            problems.push(format!(
                "crates/hw-store/migrations: {name} is where {number}… is expected; number them 0001, 0002, … without a gap"
            ));
        }
    }
    if left.is_empty() && right.is_empty() {
        problems
            .push("crates/hw-store/migrations: no migration in sqlite/ or postgres/".to_owned());
    }
    problems
}

/// Describes what is wrong with a statement's placeholders.
///
/// SQLite numbers `$1` by its first occurrence, not by its digit: out of order, values land in the wrong columns.
fn find_disordered_parameter(text: &str) -> Option<String> {
    const VERBS: [&str; 7] = ["select", "insert", "update", "delete", "with", "create", "replace"];
    let first = text.split_whitespace().next()?.to_lowercase();
    if !VERBS.contains(&first.as_str()) {
        return None;
    }
    let mut seen: Vec<u32> = Vec::new();
    for rest in text.split('$').skip(1) {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        seen.extend(digits.parse::<u32>().ok().filter(|number| !seen.contains(number)));
    }
    let in_order = seen.iter().zip(1..).all(|(number, position)| *number == position);
    let start: String = text.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    (!in_order).then(|| {
        format!("`{start} …` first uses {seen:?}; number its placeholders $1, $2, … as they come")
    })
}

/// Returns the string literals of a Rust file, with their escapes.
fn string_literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, from) = rest.split_at(at);
        rest = &from[1..];
        if from.starts_with("//") {
            rest = from.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(after) =
            ["'\"'", "'\\\"'"].iter().find_map(|quote| from.strip_prefix(quote))
        {
            rest = after;
        } else if from.starts_with('"') {
            let hashes = &before[before.trim_end_matches('#').len()..];
            let is_raw = before.trim_end_matches('#').ends_with('r');
            let end = if is_raw { rest.find(&format!("\"{hashes}")) } else { closing_quote(rest) };
            let end = end.unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            rest = rest.get(end + 1..).unwrap_or("");
        }
    }
    found
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Decides whether a file writes to a terminal itself.
fn is_printing(source: &str) -> bool {
    let called = |name: &str| {
        let mut calls = source.match_indices(name);
        calls.any(|(at, _)| {
            !source[..at].ends_with(|c: char| c == '.' || c == '_' || c.is_alphanumeric())
        })
    };
    ["stdout()", "stderr()", "io::stdout", "io::stderr"].iter().any(|name| called(name))
}

// Documents.

/// Returns the names under `Commands:`, each after two spaces.
fn help_commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed =
        listed.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names = listed
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let continues = |next: char| next.is_alphanumeric() || next == '-' || next == '_';
    text.match_indices(word).any(|(at, _)| !text[at + word.len()..].starts_with(continues))
}

fn has_path(line: &str, start: &str) -> bool {
    let continues = |before: char| before.is_alphanumeric() || "._-~}$*/>".contains(before);
    line.match_indices(start).any(|(at, _)| !line[..at].ends_with(continues))
}

fn functions_in(source: &str) -> impl Iterator<Item = String> {
    source.split("fn ").skip(1).map(|rest| rest.chars().take_while(|c| is_snake(*c)).collect())
}

/// Returns the tests in the last column with their line: back-quoted names with at least three underscores.
fn tests_named(requirements: &str) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    for (number, line) in requirements.lines().enumerate().filter(|(_, line)| line.starts_with('|'))
    {
        let last = line.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let quoted = last.split('`').skip(1).step_by(2);
        let tests =
            quoted.filter(|name| name.matches('_').count() >= 3 && name.chars().all(is_snake));
        named.extend(tests.map(|name| (number + 1, name.to_owned())));
    }
    named
}

fn is_snake(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

// Files and folders.

fn assert_no_problems(problems: impl IntoIterator<Item = String>) {
    let problems: Vec<String> = problems.into_iter().collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn crate_folders() -> Vec<PathBuf> {
    let mut crates = list_folder(&workspace_root().join("crates"));
    crates.retain(|dir| dir.join("Cargo.toml").is_file());
    crates
}

fn read_manifest(dir: &Path) -> toml::Table {
    fs::read_to_string(dir.join("Cargo.toml")).unwrap().parse().unwrap()
}

fn read_text(name: &str) -> String {
    fs::read_to_string(workspace_root().join(name))
        .unwrap_or_else(|error| panic!("{name} is missing: {error}"))
}

fn read_optional_text(name: &str) -> String {
    fs::read_to_string(workspace_root().join(name)).unwrap_or_default()
}

fn list_folder(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns every file below, without build output, git's own files and third-party code.
fn list_files(dir: &Path) -> Vec<PathBuf> {
    let (dirs, mut files): (Vec<_>, Vec<_>) =
        list_folder(dir).into_iter().partition(|path| path.is_dir());
    let foreign = ["target", "vendor", "vendored", "node_modules"];
    for dir in dirs {
        let name = file_name(&dir);
        let hidden = name.starts_with('.') && name != ".ci";
        if !hidden && !foreign.contains(&name.as_str()) && !dir.join("CACHEDIR.TAG").exists() {
            files.extend(list_files(&dir));
        }
    }
    files.retain(|file| file.is_file());
    files
}

fn file_names(dir: &Path) -> Vec<String> {
    list_folder(dir).iter().map(|path| file_name(path)).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn display_path(path: &Path) -> String {
    path.strip_prefix(workspace_root()).unwrap_or(path).display().to_string()
}
