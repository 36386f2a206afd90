//! Finds the GitHub token: in the settings, else from `gh`.

use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{self, AppSettings};
use crate::report::ErrorHint;
use crate::terminal;

const GH_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the configured token, else the one that `gh` stores for the host.
pub(crate) fn find_token(settings: &AppSettings) -> anyhow::Result<SecretString> {
    if let Some(token) = &settings.token {
        return Ok(token.clone());
    }
    token_from_gh(&settings.endpoints.host).context("no token is set, and `gh` provides none").context(ErrorHint(
        "set GITHUB_TOKEN to a token that can read the organization, in the environment or in .env in \
         the home directory, or log in with `gh auth login`"
            .to_owned(),
    ))
}

/// Returns the output of `gh auth token`, or an error that explains why there is none.
pub(crate) fn token_from_gh(host: &str) -> anyhow::Result<SecretString> {
    let output = run_gh(host)?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        anyhow::bail!("`gh auth token` failed: {message}");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let token = config::parse_token(&text)
        .map_err(|reason| anyhow::anyhow!("`gh auth token` printed something that is {reason}"))?;
    terminal::update_mask(|mask| mask.hide_token(token.expose_secret()));
    Ok(token)
}

/// Runs `gh`, and kills it after a timeout.
fn run_gh(host: &str) -> anyhow::Result<Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(async {
        let mut command = tokio::process::Command::new("gh");
        command.args(["auth", "token", "--hostname", host]).stdin(Stdio::null()).kill_on_drop(true);
        tokio::time::timeout(GH_TIMEOUT, command.output()).await
    });
    runtime.shutdown_background();
    match output {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            anyhow::bail!("`gh` is not installed")
        }
        Ok(Err(error)) => Err(anyhow::Error::new(error).context("cannot run `gh`")),
        Err(_) => anyhow::bail!("`gh auth token` did not answer within {} s", GH_TIMEOUT.as_secs()),
    }
}
