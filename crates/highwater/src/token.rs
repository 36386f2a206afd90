//! The token: from the settings, else from `gh`.

use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{self, Settings};
use crate::report::Hint;
use crate::terminal;

/// How long `gh` may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The token that is set, else the one that `gh` keeps for this host.
pub(crate) fn find(settings: &Settings) -> anyhow::Result<SecretString> {
    if let Some(token) = &settings.token {
        return Ok(token.clone());
    }
    of_gh(&settings.github.host).context("no token is set").context(Hint(
        "set GITHUB_TOKEN to one that may read the organisation, in the environment or in .env in the \
         home directory, or log in with `gh auth login`"
            .to_owned(),
    ))
}

/// What `gh auth token` says; an error says why it says nothing.
pub(crate) fn of_gh(host: &str) -> anyhow::Result<SecretString> {
    let output = asked(host)?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        anyhow::bail!("`gh auth token` has none: {told}");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let token =
        config::token(&text).map_err(|wrong| anyhow::anyhow!("`gh auth token`: {wrong}"))?;
    terminal::hide(|mask| mask.hide_token(token.expose_secret()));
    Ok(token)
}

/// Runs `gh`, which is ended when it takes too long.
fn asked(host: &str) -> anyhow::Result<Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(async {
        let mut command = tokio::process::Command::new("gh");
        command.args(["auth", "token", "--hostname", host]).stdin(Stdio::null()).kill_on_drop(true);
        tokio::time::timeout(PATIENCE, command.output()).await
    });
    runtime.shutdown_background();
    match output {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            anyhow::bail!("there is no `gh` to ask, either")
        }
        Ok(Err(error)) => Err(anyhow::Error::new(error).context("`gh` cannot be run")),
        Err(_) => anyhow::bail!("`gh auth token` did not answer within {} s", PATIENCE.as_secs()),
    }
}
