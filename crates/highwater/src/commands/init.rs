//! `highwater init`

mod origin;

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::cli::Init;
use crate::config::{self, Environment, FILE, Origin, Problem, Resolved};
use crate::private;
use crate::report::Hint;
use crate::terminal::say;

pub(crate) fn run(
    args: &Init,
    resolved: &Resolved,
    environment: &Environment,
) -> anyhow::Result<()> {
    refuse_mistakes(resolved)?;
    let (home, _) = resolved
        .home
        .as_ref()
        .context("no home directory: neither --home nor HIGHWATER_HOME nor HOME is set")?;
    let organization = organization(resolved, environment);
    let name = organization.as_ref().map(|(name, _)| name.as_str());
    let path = home.join(FILE);
    write(&path, &config::example(name), args.force)?;
    let lines = [
        format!("wrote {}", path.display()),
        told_organization(organization.as_ref()),
        told_token(resolved.token_origin().as_ref(), home),
        format!("next: {}", next(args, name)),
    ];
    Ok(say(&lines.join("\n"))?)
}

fn told_organization(organization: Option<&(String, Origin)>) -> String {
    match organization {
        Some((name, origin)) => format!("organisation: {name} (from: {origin})"),
        None => "organisation: none found; set github.organization there, or use -o".to_owned(),
    }
}

fn told_token(origin: Option<&Origin>, home: &Path) -> String {
    let dotenv = home.join(config::DOTENV);
    match origin {
        Some(origin) => format!("token: found (from: {origin})"),
        None => format!("token: none found; put GITHUB_TOKEN=… into {}", dotenv.display()),
    }
}

/// What is wrong in the file that is to be replaced does not matter; anything else does.
fn refuse_mistakes(resolved: &Resolved) -> anyhow::Result<()> {
    let is_replaced =
        |it: &&Problem| matches!(&it.origin, Origin::Line { file, .. } if file.ends_with(FILE));
    let problems: Vec<Problem> =
        resolved.problems.iter().filter(|it| !is_replaced(it)).cloned().collect();
    if problems.is_empty() { Ok(()) } else { Err(Problem::error(&problems)) }
}

/// The organisation, and who named it.
fn organization(resolved: &Resolved, environment: &Environment) -> Option<(String, Origin)> {
    let set = resolved.get(&config::ORGANIZATION).map(|it| (it.text.clone(), it.origin.clone()));
    set.or_else(|| {
        let host = resolved.address().ok()?.host;
        let owner = origin::owner(environment.folder.as_deref()?, &host)?;
        Some((owner, Origin::Git))
    })
}

/// The file is there as a whole, or not at all.
fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    private::folder(folder).with_context(cannot)?;
    // made with mode 0600
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    file.write_all(text.as_bytes()).with_context(cannot)?;
    if force {
        file.persist(path).map_err(|error| error.error).with_context(cannot)?;
        return Ok(());
    }
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            let error = anyhow::anyhow!("{} is there already", path.display());
            Err(error.context(Hint("--force replaces it, and what was set in it is gone".into())))
        }
        Err(error) => Err(error.error).with_context(cannot),
    }
}

fn next(args: &Init, organization: Option<&str>) -> String {
    let organization = if organization.is_some() { "" } else { " -o NAME" };
    let home =
        args.home.as_ref().map_or_else(String::new, |home| format!(" -m {}", home.display()));
    format!("highwater pull{organization}{home}")
}
