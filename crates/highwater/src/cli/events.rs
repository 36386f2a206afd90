//! The arguments of `highwater events`.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use hw_rules::date_range;
use hw_rules::delivery::DEFAULT_MAX_TRIES;
use hw_rules::event::EventClass;
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::WatchSubject;
use hw_store::ConsumerStart;

use super::{OutputArgs, WorkspaceFlags};
use crate::config::{did_you_mean, parse_limit};

/// Reads what is said in watched threads: each comment or edit once per consumer.
///
/// A consumer is a name with a position of its own. `read` hands out events,
/// `ack` confirms them, and `exec` does both around a program of yours. What is
/// not acknowledged comes again.
///
/// Examples:
///   highwater events exec --consumer triage --forever -- ./handle-event
///   highwater events read --consumer triage --wait 60
///   highwater events ack --consumer triage 5f0c…
///   highwater events list --class feedback
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    pub(crate) command: EventsCommand,
}

#[derive(Subcommand)]
pub(crate) enum EventsCommand {
    Read(ReadEventsArgs),
    Ack(AckEventsArgs),
    Nack(NackEventsArgs),
    Exec(Box<ExecEventsArgs>),
    List(ListEventsArgs),
    Show(ShowEventArgs),
    Dead(ListDeadArgs),
    Retry(RetryEventsArgs),
    Consumers(ConsumersArgs),
}

impl EventsCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::Read(args) => &args.workspace,
            Self::Ack(args) => &args.workspace,
            Self::Nack(args) => &args.workspace,
            Self::Exec(args) => &args.workspace,
            Self::List(args) => &args.workspace,
            Self::Show(args) => &args.workspace,
            Self::Dead(args) => &args.workspace,
            Self::Retry(args) => &args.workspace,
            Self::Consumers(args) => args.workspace_flags(),
        }
    }
}

/// Hands out a consumer's next events, one JSON object per line. Works offline.
///
/// Each event belongs to the reader for ten minutes. If it is not acknowledged by
/// then, it comes again; after five tries it is a dead letter. A consumer is
/// created by its first read, and starts with the oldest stored event.
///
/// Examples:
///   highwater events read --consumer triage
///   highwater events read --consumer triage --limit 10 --wait 60
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReadEventsArgs {
    #[command(flatten)]
    pub(crate) consumer: ConsumerFlag,

    /// Maximum number of events.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = parse_batch, allow_negative_numbers = true)]
    pub(crate) limit: u32,

    /// Wait this long for an event if there is none.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) wait: u32,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Acknowledges events: they do not come again. Works offline.
///
/// Examples:
///   highwater events ack --consumer triage 5f0c7d0e…
///   jq -r .id < events.jsonl | highwater events ack --consumer triage -
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AckEventsArgs {
    #[command(flatten)]
    pub(crate) consumer: ConsumerFlag,

    #[command(flatten)]
    pub(crate) events: EventIds,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Gives events back: they come again later. Works offline.
///
/// It counts as a failed try; an event that failed five times is a dead letter.
///
/// Examples:
///   highwater events nack --consumer triage --retry-after 300 5f0c7d0e…
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct NackEventsArgs {
    #[command(flatten)]
    pub(crate) consumer: ConsumerFlag,

    #[command(flatten)]
    pub(crate) events: EventIds,

    /// Time until they come again.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) retry_after: u32,

    /// What went wrong; it is stored, and listed with dead letters.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Runs a program once per event, with its JSON on stdin. Works offline.
///
/// Exit code 0 acknowledges the event, 75 asks for it later, and any other one is
/// a failed try; after five of them the event is a dead letter, and the others go
/// on. A run may take ten minutes. Up to 64 kB of its stdout are stored with the
/// event and printed here; nothing is posted to GitHub. An event can come twice if
/// the process is killed, so compare its `id` where that matters.
///
/// Examples:
///   highwater events exec --consumer triage -- ./handle-event
///   highwater events exec --consumer triage --forever -- python3 handle.py
///   highwater events exec --consumer log --limit 1 -- jq -r .body
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExecEventsArgs {
    #[command(flatten)]
    pub(crate) consumer: ConsumerFlag,

    /// Stop after this many events.
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    /// Keep waiting for events, until Ctrl-C.
    #[arg(long, conflicts_with = "limit")]
    pub(crate) forever: bool,

    /// Time until a failed event, or one that the program asked for later, comes again.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) retry_after: u32,

    /// Longest time that a run may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = parse_timeout, allow_negative_numbers = true)]
    pub(crate) timeout: u32,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,

    /// Program to run, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Lists events, newest first, also those that are not delivered. Works offline.
///
/// Examples:
///   highwater events list
///   highwater events list --thread acme/pump#12 --json
///   highwater events list --class ignored --since 2026-01-31
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListEventsArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Only events of this thread, or of this repository.
    #[arg(long, value_name = "SUBJECT", value_parser = parse_subject)]
    pub(crate) thread: Option<WatchSubject>,

    /// Only events of this class: feedback, command, followup, own or ignored.
    #[arg(long, value_name = "CLASS", value_parser = parse_class)]
    pub(crate) class: Option<String>,

    /// Only events by this author.
    #[arg(long, value_name = "LOGIN")]
    pub(crate) author: Option<String>,

    /// Only what was said on or after this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_first_instant)]
    pub(crate) since: Option<SourceInstant>,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Prints an event in full, and what each consumer did with it. Works offline.
///
/// Examples:
///   highwater events show 5f0c7d0e…
///   highwater events show 5f0c7d0e… --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowEventArgs {
    /// Id of the event.
    #[arg(value_name = "ID", value_parser = parse_event_id)]
    pub(crate) id: String,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Lists events that failed too often and do not come again. Works offline.
///
/// Examples:
///   highwater events dead
///   highwater events dead --consumer triage --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListDeadArgs {
    /// Only those of this consumer.
    #[arg(long, value_name = "NAME", value_parser = parse_consumer)]
    pub(crate) consumer: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Delivers dead letters again, as if for the first time. Works offline.
///
/// Examples:
///   highwater events retry --consumer triage 5f0c7d0e…
///   highwater events retry --consumer triage --all
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RetryEventsArgs {
    #[command(flatten)]
    pub(crate) consumer: ConsumerFlag,

    /// Ids of the events; `-` reads them from stdin, one per line.
    #[arg(value_name = "ID", value_parser = parse_event_ref, required_unless_present = "all", conflicts_with = "all")]
    pub(crate) ids: Vec<EventRef>,

    /// All dead letters of the consumer.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Lists the consumers and their positions, or removes one. Works offline.
///
/// Examples:
///   highwater events consumers
///   highwater events consumers --json
///   highwater events consumers remove triage
#[derive(Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct ConsumersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConsumersCommand>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

impl ConsumersArgs {
    fn workspace_flags(&self) -> &WorkspaceFlags {
        match &self.command {
            Some(ConsumersCommand::Add(args)) => &args.workspace,
            Some(ConsumersCommand::Remove(args)) => &args.workspace,
            None => &self.workspace,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum ConsumersCommand {
    Add(AddConsumerArgs),
    Remove(RemoveConsumerArgs),
}

/// Creates a consumer before its first read. Works offline.
///
/// Examples:
///   highwater events consumers add triage --from now
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddConsumerArgs {
    #[arg(value_name = "NAME", value_parser = parse_consumer)]
    pub(crate) name: String,

    /// First event: `start` for the oldest stored one, `now` for the next one.
    #[arg(long = "from", value_name = "START", default_value = "start", value_parser = ["start", "now"])]
    start: String,

    /// Number of failed tries after which an event is a dead letter.
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_MAX_TRIES, value_parser = parse_max_tries, allow_negative_numbers = true)]
    pub(crate) max_tries: u32,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

impl AddConsumerArgs {
    pub(crate) fn start(&self) -> ConsumerStart {
        if self.start == "now" { ConsumerStart::Now } else { ConsumerStart::Beginning }
    }
}

/// Removes a consumer and its position. The events stay. Works offline.
///
/// Examples:
///   highwater events consumers remove triage
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveConsumerArgs {
    #[arg(value_name = "NAME", value_parser = parse_consumer)]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

#[derive(Args)]
pub(crate) struct ConsumerFlag {
    /// Name of the consumer.
    #[arg(id = "consumer", long = "consumer", value_name = "NAME", value_parser = parse_consumer)]
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct EventIds {
    /// Ids of the events, or the tokens that came with them; `-` reads them from stdin, one per line.
    #[arg(value_name = "ID", value_parser = parse_event_ref, required = true)]
    pub(crate) ids: Vec<EventRef>,
}

/// Events that one read hands out at most: all of them are leased.
const MAX_BATCH: u32 = 1_000;
const MAX_CONSUMER_LENGTH: usize = 100;
const DAY_SECONDS: u32 = 86_400;

/// An event, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventRef {
    Id(String),
    /// The token of one delivery.
    Token(String),
    /// Those on stdin.
    Stdin,
}

impl std::fmt::Display for EventRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(text) | Self::Token(text) => f.write_str(text),
            Self::Stdin => f.write_str("-"),
        }
    }
}

pub(crate) fn parse_event_ref(text: &str) -> Result<EventRef, String> {
    let text = text.trim();
    let is_token = text
        .split_once('-')
        .is_some_and(|(lease, seq)| is_hex_id(lease) && seq.parse::<u64>().is_ok());
    match text {
        "-" => Ok(EventRef::Stdin),
        token if is_token => Ok(EventRef::Token(token.to_owned())),
        id => parse_event_id(id).map(EventRef::Id),
    }
}

fn is_hex_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn parse_batch(text: &str) -> Result<u32, String> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_BATCH).contains(limit));
    limit.ok_or_else(|| format!("expected a whole number from 1 to {MAX_BATCH}, got {text:?}"))
}

fn parse_seconds(text: &str) -> Result<u32, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= 7 * DAY_SECONDS);
    seconds.ok_or_else(|| format!("expected seconds from 0 to {}, got {text:?}", 7 * DAY_SECONDS))
}

fn parse_timeout(text: &str) -> Result<u32, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=DAY_SECONDS).contains(seconds));
    seconds.ok_or_else(|| format!("expected seconds from 1 to {DAY_SECONDS}, got {text:?}"))
}

/// Checks a consumer's name, which also stands in file names and on pages.
fn parse_consumer(text: &str) -> Result<String, String> {
    let is_name = (1..=MAX_CONSUMER_LENGTH).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if is_name {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected a name (at most {MAX_CONSUMER_LENGTH} letters, digits, -, _ and .), got {text:?}"
    ))
}

fn parse_event_id(text: &str) -> Result<String, String> {
    let id = text.trim().to_ascii_lowercase();
    if is_hex_id(&id) {
        Ok(id)
    } else {
        Err(format!("expected the id of an event (32 hexadecimal digits), got {text:?}"))
    }
}

fn parse_max_tries(text: &str) -> Result<u32, String> {
    let tries = text.parse().ok().filter(|tries| (1..=100).contains(tries));
    tries.ok_or_else(|| format!("expected a whole number from 1 to 100, got {text:?}"))
}

fn parse_subject(text: &str) -> Result<WatchSubject, String> {
    text.parse().map_err(|error: hw_rules::watch::ParseSubjectError| error.to_string())
}

fn parse_class(text: &str) -> Result<String, String> {
    if EventClass::NAMES.contains(&text) {
        return Ok(text.to_owned());
    }
    let nearest = did_you_mean(text, EventClass::NAMES.into_iter());
    Err(format!("available classes: {}{nearest}", EventClass::NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_id_is_32_hexadecimal_digits() {
        let id = "5F0C7D0E00112233445566778899aabb";
        assert_eq!(parse_event_id(id), Ok(id.to_lowercase()));
        for text in ["", "5f0c", "-", &"g".repeat(32), &"1".repeat(33)] {
            assert!(parse_event_id(text).is_err(), "{text}");
        }
        assert_eq!(parse_event_ref("-"), Ok(EventRef::Stdin));
        let token = format!("{id}-17");
        assert_eq!(parse_event_ref(&token), Ok(EventRef::Token(token.clone())));
    }

    #[test]
    fn consumer_name_has_no_odd_characters() {
        assert!(parse_consumer("triage-2.x_y").is_ok());
        for text in ["", "a b", "a/b", "é", &"a".repeat(101)] {
            assert!(parse_consumer(text).is_err(), "{text}");
        }
    }
}
