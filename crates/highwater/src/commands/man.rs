//! `highwater man`

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man as Page;

use crate::cli::{Cli, ManArgs};
use crate::report::ErrorHint;
use crate::terminal::{print_bytes, print_result};

const WRITABLE_HINT: &str = "choose a directory that you can write to";

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    match &args.folder {
        None => {
            let page = render_page(Cli::command())?;
            Ok(print_bytes(&page)?)
        }
        Some(folder) if folder.is_file() => {
            let error = anyhow::anyhow!("{} is a file, not a directory", folder.display());
            Err(error.context(ErrorHint(WRITABLE_HINT.to_owned())))
        }
        Some(folder) => {
            let count = write_pages(folder)
                .with_context(|| format!("cannot write to {}", folder.display()))
                .context(ErrorHint(WRITABLE_HINT.to_owned()))?;
            Ok(print_result(&format!("wrote {count} pages to {}", folder.display()))?)
        }
    }
}

fn render_page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page)?;
    Ok(keep_examples_verbatim(&String::from_utf8_lossy(&page)).into_bytes())
}

/// Puts indented lines between `.nf` and `.fi`: otherwise `man` fills them and breaks examples anywhere.
fn keep_examples_verbatim(page: &str) -> String {
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

/// Writes one page per command, `highwater-list-issues.1` for `highwater list issues`, and returns their number.
fn write_pages(folder: &Path) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pending = vec![(root.get_name().to_owned(), root)];
    let mut count = 0;
    while let Some((name, command)) = pending.pop() {
        for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
            pending.push((format!("{name}-{}", child.get_name()), child.clone()));
        }
        // the page's title is the command's name, which clap requires to be static
        let title: &'static str = name.clone().leak();
        std::fs::write(folder.join(format!("{name}.1")), render_page(command.name(title))?)?;
        count += 1;
    }
    Ok(count)
}
