//! `highwater man`

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man as Page;

use crate::cli::{Cli, Man};
use crate::report::Hint;
use crate::terminal::{say, say_bytes};

pub(crate) fn run(args: &Man) -> anyhow::Result<()> {
    match &args.folder {
        None => {
            let page = page(Cli::command())?;
            Ok(say_bytes(&page)?)
        }
        Some(folder) => {
            let count = write_all(folder)
                .with_context(|| format!("cannot write to {}", folder.display()))
                .context(Hint("name a folder that you may write to".to_owned()))?;
            Ok(say(&format!("{count} pages are in {}", folder.display()))?)
        }
    }
}

fn page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page)?;
    Ok(verbatim_examples(&String::from_utf8_lossy(&page)).into_bytes())
}

/// Puts indented lines between `.nf` and `.fi`: else `man` fills them, and breaks examples anywhere.
fn verbatim_examples(page: &str) -> String {
    let mut lines = Vec::new();
    for run in page.lines().collect::<Vec<_>>().chunk_by(|a, b| is_indented(a) == is_indented(b)) {
        if is_indented(run[0]) {
            lines.extend([&[".nf"], run, &[".fi"]].concat());
        } else {
            lines.extend_from_slice(run);
        }
    }
    lines.join("\n") + "\n"
}

fn is_indented(line: &str) -> bool {
    line.starts_with(' ')
}

/// One page a command, `highwater-list-issues.1` for `highwater list issues`; how many there are.
fn write_all(folder: &Path) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut open = vec![(root.get_name().to_owned(), root)];
    let mut count = 0;
    while let Some((name, command)) = open.pop() {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            open.push((format!("{name}-{}", below.get_name()), below.clone()));
        }
        // a page is headed by its own name, and clap keeps names for as long as the program runs
        let shown: &'static str = name.clone().leak();
        std::fs::write(folder.join(format!("{name}.1")), page(command.name(shown))?)?;
        count += 1;
    }
    Ok(count)
}
