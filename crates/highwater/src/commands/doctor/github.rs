//! Checks the token, the hosts, the clocks and the rate limits.

use hw_rules::login::Login;
use hw_sources::error::SourceError;
use hw_sources::github::graphql::GraphqlEndpoint;
use hw_sources::github::token_info::TokenInfo;
use hw_sources::http_transport::HttpTransport;
use hw_sources::source::ApiBudget;
use hw_sync::checkup::{SourceCheckup, check_source};
use hw_sync::clock::MachineClock;
use secrecy::{ExposeSecret as _, SecretString};

use super::finding::DoctorFinding;
use crate::api_endpoints::ApiEndpoints;
use crate::config::AppSettings;
use crate::hints::source_hint;
use crate::proxy_url;
use crate::report::ErrorHint;
use hw_rules::format::{format_duration, group_digits};

/// A clock difference that does no harm, because leases expire after 5 s.
const CLOCK_TOLERANCE_MS: i64 = 5_000;
const EXPIRY_WARNING_MS: i64 = 7 * 86_400_000;
pub(super) const WAIT_ADVICE: &str = "wait and try again; pulls do this automatically";

pub(super) async fn check_github(
    settings: &AppSettings,
    token: anyhow::Result<SecretString>,
) -> anyhow::Result<Vec<DoctorFinding>> {
    let ApiEndpoints { rest_url: api, graphql_url: graphql, .. } = &settings.endpoints;
    let (token, missing_token) = match token {
        Ok(token) => (token, None),
        Err(error) => (SecretString::default(), Some(missing_token_finding(&error))),
    };
    let endpoint = GraphqlEndpoint { url: graphql.clone(), token };
    let transport = HttpTransport::with_proxy(settings.parse_proxy())?;
    let checkup = check_source(
        &*transport,
        &MachineClock,
        api,
        &endpoint,
        settings.organization.as_ref().map(Login::as_str),
    )
    .await;
    let mut findings = vec![missing_token.unwrap_or_else(|| token_finding(&checkup))];
    findings.extend(settings.proxy.as_ref().map(proxy_finding));
    findings.push(host_finding("rest", api, checkup.token.as_ref().err()));
    findings.push(host_finding("graphql", graphql, checkup.graphql.as_ref().err()));
    if let (Some(login), Some(owner)) = (&settings.organization, &checkup.organization) {
        findings.extend(organization_finding(login.as_str(), owner.as_ref().err()));
    }
    findings.extend(checkup.ahead_ms.map(clock_finding));
    let budgets = checkup.budgets.iter().flatten();
    findings.extend(budgets.map(|budget| budget_finding(budget, &checkup)));
    Ok(findings)
}

fn missing_token_finding(error: &anyhow::Error) -> DoctorFinding {
    let detail = format!("not set, and {}", error.root_cause());
    let advice = error.downcast_ref::<ErrorHint>().map(ToString::to_string);
    DoctorFinding::fail("token", detail, &advice.unwrap_or_default())
}

fn token_finding(checkup: &SourceCheckup) -> DoctorFinding {
    match &checkup.token {
        Ok(token) => valid_token_finding(token, checkup),
        Err(SourceError::Network(_) | SourceError::Unreachable(_) | SourceError::TlsFailed(_)) => {
            DoctorFinding::warn("token", "could not be checked", "see rest and graphql below")
        }
        Err(error @ (SourceError::TokenRejected(_) | SourceError::Forbidden(_))) => {
            let advice =
                "create a new one at github.com/settings/tokens and set GITHUB_TOKEN to it";
            DoctorFinding::fail("token", error.to_string(), advice)
        }
        Err(error) => DoctorFinding::warn("token", error.to_string(), source_hint(error)),
    }
}

fn valid_token_finding(token: &TokenInfo, checkup: &SourceCheckup) -> DoctorFinding {
    let expires_in_ms =
        token.expires_at.zip(checkup.date).map(|(expiry, date)| expiry.0.saturating_sub(date.0));
    let expiry = expires_in_ms
        .map_or_else(String::new, |ms| format!("; expires in {}", format_duration(ms.max(0))));
    let detail = format!("signed in as {}; {}{expiry}", token.login, describe_scopes(token));
    if expires_in_ms.is_some_and(|ms| ms < EXPIRY_WARNING_MS) {
        return DoctorFinding::warn("token", detail, "create a new one before it expires");
    }
    if token.scopes.as_ref().is_some_and(|scopes| scopes.iter().all(|scope| scope != "repo")) {
        let advice = "reads public repositories only; private ones need the repo scope";
        return DoctorFinding::warn("token", detail, advice);
    }
    DoctorFinding::ok("token", detail)
}

fn describe_scopes(token: &TokenInfo) -> String {
    match &token.scopes {
        None => "no scopes reported: a fine-grained or app token".to_owned(),
        Some(scopes) if scopes.is_empty() => "no scopes".to_owned(),
        Some(scopes) => format!("scopes: {}", scopes.join(", ")),
    }
}

fn proxy_finding(url: &SecretString) -> DoctorFinding {
    let masked = proxy_url::mask_secret(url.expose_secret());
    DoctorFinding::ok("proxy", format!("github.proxy is set: requests go through {masked}"))
}

/// Reports whether the host answers. A host that rejects the token does.
fn host_finding(check: &str, url: &str, error: Option<&SourceError>) -> DoctorFinding {
    match error {
        Some(
            error @ (SourceError::Network(_)
            | SourceError::Unreachable(_)
            | SourceError::TlsFailed(_)),
        ) => DoctorFinding::fail(check, format!("{url}: {error}"), source_hint(error)),
        Some(
            error @ (SourceError::InvalidResponse(_)
            | SourceError::InvalidRequest(_)
            | SourceError::AccountUnavailable(_)
            | SourceError::SessionExpired(_)
            | SourceError::Hidden(_)),
        ) => {
            let detail = format!("{url} does not respond like GitHub: {error}");
            DoctorFinding::fail(check, detail, "check the URL (--api-url, --graphql-url)")
        }
        Some(error @ (SourceError::Server(_) | SourceError::TooExpensive(_))) => {
            let advice = "wait; githubstatus.com reports outages";
            DoctorFinding::warn(check, format!("{url}: {error}"), advice)
        }
        Some(error @ (SourceError::RateLimited(_) | SourceError::InvalidCursor(_))) => {
            DoctorFinding::warn(check, format!("{url}: {error}"), WAIT_ADVICE)
        }
        Some(SourceError::TokenRejected(_) | SourceError::Forbidden(_)) | None => {
            DoctorFinding::ok(check, format!("{url} answers"))
        }
    }
}

/// Reports whether the organization can be listed. A failing server or token has its own line.
fn organization_finding(login: &str, error: Option<&SourceError>) -> Option<DoctorFinding> {
    match error {
        None => Some(DoctorFinding::ok("organization", format!("{login} can be listed"))),
        Some(error @ SourceError::Hidden(_)) => Some(DoctorFinding::fail(
            "organization",
            format!("{login}: {error}"),
            source_hint(error),
        )),
        Some(_) => None,
    }
}

fn clock_finding(ahead_ms: i64) -> DoctorFinding {
    if ahead_ms.abs() <= CLOCK_TOLERANCE_MS {
        let within = format_duration(ahead_ms.abs().max(1_000));
        return DoctorFinding::ok("clock", format!("within {within} of GitHub's"));
    }
    let difference = format_duration(ahead_ms.saturating_abs());
    let direction = if ahead_ms > 0 { "ahead of" } else { "behind" };
    let detail = format!("this machine's clock is {difference} {direction} GitHub's");
    DoctorFinding::warn("clock", detail, "synchronize it: timedatectl set-ntp true")
}

fn budget_finding(budget: &ApiBudget, checkup: &SourceCheckup) -> DoctorFinding {
    let ApiBudget { bucket, used, limit, resets_at } = budget;
    let check = format!("budget {bucket}");
    let resets_in_ms = checkup.date.map_or(0, |date| resets_at.0.saturating_sub(date.0).max(0));
    let [used_text, limit_text] =
        [used, limit].map(|number| group_digits(u64::try_from(*number).unwrap_or(0)));
    let detail =
        format!("{used_text} of {limit_text} used, resets in {}", format_duration(resets_in_ms));
    if used < limit {
        DoctorFinding::ok(&check, detail)
    } else {
        DoctorFinding::warn(&check, detail, WAIT_ADVICE)
    }
}
