//! `highwater init`

mod git_origin;

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;

use crate::cli::InitArgs;
use crate::config::{
    self, Environment, ResolvedSettings, SETTINGS_FILE, SettingOrigin, SettingProblem, SettingValue,
};
use crate::private_files;
use crate::report::ErrorHint;
use crate::terminal::print_result;
use crate::{hints, workspace};

pub(crate) fn run(
    args: &InitArgs,
    resolved: &ResolvedSettings,
    environment: &Environment,
) -> anyhow::Result<()> {
    check_problems(resolved)?;
    let home = &resolved
        .home
        .as_ref()
        .context("no home directory: neither --home nor HIGHWATER_HOME nor HOME is set")?
        .path;
    workspace::refuse_file_as_home(home, "set --home or HIGHWATER_HOME to a directory")?;
    let organization = find_organization(resolved, environment);
    let login = organization.as_ref().map(|found| found.text.as_str());
    let path = home.join(SETTINGS_FILE);
    let overwrite = if args.force { Overwrite::Yes } else { Overwrite::No };
    write_settings_file(&path, &config::example_settings(login), overwrite)
        .map_err(|error| write_error(error, &path))?;
    let lines = [
        format!("wrote {}", path.display()),
        organization_line(organization.as_ref()),
        token_line(resolved.token_origin().as_ref(), home),
        format!("next: {}", next_command(args, login)),
    ];
    Ok(print_result(&lines.join("\n"))?)
}

fn organization_line(organization: Option<&SettingValue>) -> String {
    match organization {
        Some(SettingValue { text, origin }) => {
            format!("organization: {text} (from {})", origin_name(origin))
        }
        None => "organization: none found; set github.organization there, or use -o".to_owned(),
    }
}

fn token_line(origin: Option<&SettingOrigin>, home: &Path) -> String {
    let dotenv = home.join(config::DOTENV_FILE);
    match origin {
        Some(origin) => format!("token: found (from {})", origin_name(origin)),
        None => format!("token: none found; put GITHUB_TOKEN=… in {}", dotenv.display()),
    }
}

/// Names an origin in a sentence.
fn origin_name(origin: &SettingOrigin) -> String {
    match origin {
        // the only setting that `init` has a flag for is the organization
        SettingOrigin::Flag => "-o".to_owned(),
        SettingOrigin::Environment => "the environment".to_owned(),
        SettingOrigin::Gh => "`gh auth token`".to_owned(),
        SettingOrigin::Git => "the git remote `origin`".to_owned(),
        SettingOrigin::FileLine { .. } | SettingOrigin::Default => origin.to_string(),
    }
}

/// Fails if a setting is invalid, except in the file that `init` replaces.
fn check_problems(resolved: &ResolvedSettings) -> anyhow::Result<()> {
    let problems = resolved.problems.iter().filter(|problem| !is_in_settings_file(&problem.origin));
    let problems: Vec<SettingProblem> = problems.cloned().collect();
    if problems.is_empty() { Ok(()) } else { Err(SettingProblem::combine_with_hint(&problems)) }
}

fn is_in_settings_file(origin: &SettingOrigin) -> bool {
    matches!(origin, SettingOrigin::FileLine { file, .. } if file.ends_with(SETTINGS_FILE))
}

/// Returns the organization from the settings, or from the git repository in the current folder.
fn find_organization(
    resolved: &ResolvedSettings,
    environment: &Environment,
) -> Option<SettingValue> {
    resolved.get(&config::ORGANIZATION).cloned().or_else(|| {
        let host = resolved.api_endpoints().ok()?.host;
        let owner = git_origin::find_origin_owner(environment.current_folder.as_deref()?, &host)?;
        Some(SettingValue { text: owner.to_string(), origin: SettingOrigin::Git })
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Overwrite {
    Yes,
    No,
}

/// Writes the file, completely or not at all.
fn write_settings_file(path: &Path, text: &str, overwrite: Overwrite) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_files::create_folder(folder)?;
    // created with mode 0600
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    let persisted = match overwrite {
        Overwrite::Yes => file.persist(path),
        Overwrite::No => file.persist_noclobber(path),
    };
    persisted.map(drop).map_err(|error| error.error)
}

fn write_error(error: io::Error, path: &Path) -> anyhow::Error {
    let path_text = path.display();
    if path.is_dir() {
        let hint = "remove it or choose another --home";
        return anyhow::anyhow!("{path_text} is a directory").context(ErrorHint(hint.to_owned()));
    }
    if error.kind() == io::ErrorKind::AlreadyExists && path.is_file() {
        let hint = "--force overwrites it, and the settings in it are lost";
        return anyhow::anyhow!("{path_text} already exists").context(ErrorHint(hint.to_owned()));
    }
    hints::add_write_hint(error, format!("cannot write {path_text}"))
}

fn next_command(args: &InitArgs, organization: Option<&str>) -> String {
    let organization = if organization.is_some() { "" } else { " -o NAME" };
    let home =
        args.home.as_ref().map_or_else(String::new, |home| format!(" -m {}", home.display()));
    format!("highwater pull{organization}{home}")
}
