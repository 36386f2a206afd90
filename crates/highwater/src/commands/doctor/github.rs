//! The token, the hosts, the clocks and the budgets.

use hw_sources::github::graphql::Endpoint;
use hw_sources::github::user::{Budget, Token};
use hw_sources::http::Http;
use hw_sources::trouble::Trouble;
use hw_sync::checkup::{Checkup, checkup};
use hw_sync::clock::MachineClock;
use secrecy::{ExposeSecret as _, SecretString};

use super::finding::Finding;
use crate::address::Address;
use crate::advice::on_source;
use crate::config::Settings;
use crate::proxy;
use crate::report::Hint;
use hw_tui::words::{grouped, span};

/// A difference of clocks that harms nothing: leases end after 5 s.
const FINE_MS: i64 = 5_000;
const SOON_MS: i64 = 7 * 86_400_000;

pub(super) async fn look(
    settings: &Settings,
    token: anyhow::Result<SecretString>,
) -> anyhow::Result<Vec<Finding>> {
    let Address { api, graphql, .. } = &settings.github;
    let (token, unfit) = match token {
        Ok(token) => (token, None),
        Err(error) => (SecretString::default(), Some(none(&error))),
    };
    let endpoint = Endpoint { url: graphql.clone(), token };
    let transport = Http::through(settings.proxy())?;
    let checkup =
        checkup(&*transport, &MachineClock, api, &endpoint, settings.organization.as_deref()).await;
    let mut findings = vec![unfit.unwrap_or_else(|| token_of(&checkup))];
    findings.extend(settings.proxy.as_ref().map(proxied));
    findings.push(host("rest", api, checkup.token.as_ref().err()));
    findings.push(host("graphql", graphql, checkup.graphql.as_ref().err()));
    if let (Some(login), Some(owner)) = (&settings.organization, &checkup.owner) {
        findings.extend(organization(login, owner.as_ref().err()));
    }
    findings.extend(checkup.ahead_ms.map(clock));
    findings.extend(checkup.budgets.iter().flatten().map(|it| budget(it, &checkup)));
    Ok(findings)
}

/// Why there is no token.
fn none(error: &anyhow::Error) -> Finding {
    let detail = format!("none is set, and {}", error.root_cause());
    let advice = error.downcast_ref::<Hint>().map(ToString::to_string);
    Finding::fail("token", detail, &advice.unwrap_or_default())
}

fn token_of(checkup: &Checkup) -> Finding {
    match &checkup.token {
        Ok(token) => known(token, checkup),
        Err(Trouble::Network(_) | Trouble::Unreachable(_) | Trouble::Untrusted(_)) => {
            Finding::warn("token", "nobody could be asked about it", "see the hosts below")
        }
        Err(trouble @ (Trouble::Denied(_) | Trouble::Forbidden(_))) => {
            let advice = "make a new one at github.com/settings/tokens and set GITHUB_TOKEN to it";
            Finding::fail("token", trouble.to_string(), advice)
        }
        Err(trouble) => Finding::warn("token", trouble.to_string(), on_source(trouble)),
    }
}

fn known(token: &Token, checkup: &Checkup) -> Finding {
    let ends = token.expires.zip(checkup.date).map(|(ends, date)| ends.0.saturating_sub(date.0));
    let until = ends.map_or_else(String::new, |ms| format!("; it ends in {}", span(ms.max(0))));
    let detail = format!("it speaks for {}; {}{until}", token.login, may(token));
    let has = |name: &str| token.scopes.as_ref().is_none_or(|it| it.iter().any(|it| it == name));
    if ends.is_some_and(|ms| ms < SOON_MS) {
        return Finding::warn("token", detail, "make a new one before it ends");
    }
    if !has("repo") {
        let advice = "that reads what is public; what is private needs the scope repo";
        return Finding::warn("token", detail, advice);
    }
    Finding::ok("token", detail)
}

fn may(token: &Token) -> String {
    match &token.scopes {
        None => "no scopes are told of it, so it is a fine-grained one, or an app's".to_owned(),
        Some(scopes) if scopes.is_empty() => "it has no scopes".to_owned(),
        Some(scopes) => format!("its scopes are {}", scopes.join(", ")),
    }
}

fn proxied(address: &SecretString) -> Finding {
    let shown = proxy::shown(address.expose_secret());
    Finding::ok("proxy", format!("github.proxy is set: requests go through {shown}"))
}

/// Whether anybody is there. One who refuses the token is.
fn host(check: &str, url: &str, trouble: Option<&Trouble>) -> Finding {
    match trouble {
        Some(trouble @ (Trouble::Network(_) | Trouble::Unreachable(_) | Trouble::Untrusted(_))) => {
            Finding::fail(check, format!("{url}: {trouble}"), on_source(trouble))
        }
        Some(trouble @ (Trouble::Garbled(_) | Trouble::Wrong(_) | Trouble::Hidden(_))) => {
            let detail = format!("{url} does not answer as GitHub does: {trouble}");
            Finding::fail(check, detail, "is the address right? (--api-url, --graphql-url)")
        }
        Some(trouble @ (Trouble::Server(_) | Trouble::TooMuch(_))) => {
            let advice = "wait: githubstatus.com tells when it is well again";
            Finding::warn(check, format!("{url}: {trouble}"), advice)
        }
        Some(trouble @ (Trouble::Limited(_) | Trouble::BadCursor(_))) => {
            let advice = "wait: a pull does so by itself";
            Finding::warn(check, format!("{url}: {trouble}"), advice)
        }
        Some(Trouble::Denied(_) | Trouble::Forbidden(_)) | None => {
            Finding::ok(check, format!("{url} answers"))
        }
    }
}

/// Whether the organization is there. A failing server or token has a line of its own.
fn organization(login: &str, trouble: Option<&Trouble>) -> Option<Finding> {
    match trouble {
        None => Some(Finding::ok("organization", format!("{login} can be listed"))),
        Some(trouble @ Trouble::Hidden(_)) => {
            Some(Finding::fail("organization", format!("{login}: {trouble}"), on_source(trouble)))
        }
        Some(_) => None,
    }
}

fn clock(ahead_ms: i64) -> Finding {
    if ahead_ms.abs() <= FINE_MS {
        let within = span(ahead_ms.abs().max(1_000));
        return Finding::ok("clock", format!("it agrees with GitHub's within {within}"));
    }
    let (by, side) =
        (span(ahead_ms.saturating_abs()), if 0 < ahead_ms { "ahead of" } else { "behind" });
    let detail = format!("this machine's is {by} {side} GitHub's");
    Finding::warn("clock", detail, "set it by the network: timedatectl set-ntp true")
}

fn budget(budget: &Budget, checkup: &Checkup) -> Finding {
    let Budget { bucket, used, limit, resets } = budget;
    let number = |number: i64| grouped(u64::try_from(number).unwrap_or(0));
    let check = format!("budget {bucket}");
    let resets = checkup.date.map_or(0, |date| resets.0.saturating_sub(date.0).max(0));
    let detail =
        format!("{} of {} used, resets in {}", number(*used), number(*limit), span(resets));
    if used < limit {
        Finding::ok(&check, detail)
    } else {
        Finding::warn(&check, detail, "wait for the reset: a pull does so by itself")
    }
}
