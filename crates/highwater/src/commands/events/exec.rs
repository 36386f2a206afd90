//! `highwater events exec`

use hw_rules::delivery::{DeliveryState, state_after_failure};
use hw_rules::format::format_count;
use hw_store::{
    AckOutcome, ConsumerRow, DeliveredEvent, DeliveryRef, Execution, ExecutionOutcome, Rejection,
    StoreWriter,
};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use super::event_reader::EventReader;
use super::{ensure_consumer, open_writer};
use crate::cli::ExecEventsArgs;
use crate::columns::delivered_event_json;
use crate::config::AppSettings;
use crate::consumer_program::{ConsumerProgram, ProgramRun, ProgramVerdict};
use crate::event_text::event_summary;
use crate::report::{ErrorHint, InterruptedError};
use crate::terminal::{clean_json, print_result, print_status, print_warning};
use crate::{hints, interrupt};

/// The time that a lease lasts beyond the longest run, so that nobody else gets the event meanwhile.
const LEASE_MARGIN_MS: i64 = 60_000;

pub(super) fn run(args: ExecEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let store = open_writer(settings)?;
    let consumer =
        ensure_consumer(&store, &args.consumer.name).map_err(hints::add_database_hint)?;
    let is_endless = args.forever;
    let handler = EventHandler::new(args, &store, consumer);
    match interrupt::run(&CancellationToken::new(), handler.handle_all()) {
        // `--forever` always ends by being stopped
        Err(error) if is_endless && error.is::<InterruptedError>() => Ok(()),
        other => other.map_err(hints::add_database_hint),
    }
}

/// Runs a program for the events of a consumer.
struct EventHandler<'a> {
    store: &'a StoreWriter,
    consumer: ConsumerRow,
    program: ConsumerProgram,
    limit: Option<u64>,
    is_endless: bool,
    retry_after_ms: i64,
}

/// The number of runs by their verdict.
#[derive(Default)]
struct RunCounts {
    acknowledged: u64,
    later: u64,
    failed: u64,
}

impl RunCounts {
    fn add(&mut self, verdict: &ProgramVerdict) {
        match verdict {
            ProgramVerdict::Acknowledged => self.acknowledged += 1,
            ProgramVerdict::RetryLater => self.later += 1,
            ProgramVerdict::Failed(_) => self.failed += 1,
        }
    }

    fn total(&self) -> u64 {
        self.acknowledged + self.later + self.failed
    }

    fn report(&self) -> anyhow::Result<()> {
        let Self { acknowledged, later, failed } = self;
        let events = format_count(self.total(), "event");
        print_status(&format!(
            "{events}: {acknowledged} acknowledged, {later} for later, {failed} failed"
        ));
        if *failed == 0 {
            return Ok(());
        }
        let error = anyhow::anyhow!("the program failed for {}", format_count(*failed, "event"));
        let hint = "they come again; `highwater events dead` lists those that failed too often";
        Err(error.context(ErrorHint(hint.to_owned())))
    }
}

/// An event that is given back if nobody says what became of it, because the run was stopped.
struct HeldEvent<'a> {
    handler: &'a EventHandler<'a>,
    delivered: &'a DeliveredEvent,
    is_settled: bool,
}

impl Drop for HeldEvent<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            // if this fails, too, the event comes again when its lease ends
            self.handler.release(self.delivered).ok();
        }
    }
}

impl<'a> EventHandler<'a> {
    fn new(args: ExecEventsArgs, store: &'a StoreWriter, consumer: ConsumerRow) -> Self {
        let mut words = args.command.into_iter();
        let program = ConsumerProgram {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            timeout_ms: i64::from(args.timeout) * 1_000,
        };
        let retry_after_ms = i64::from(args.retry_after) * 1_000;
        let (limit, is_endless) = (args.limit, args.forever);
        Self { store, consumer, program, limit, is_endless, retry_after_ms }
    }

    /// Handles one event after the other, until none is left or enough were handled.
    async fn handle_all(&self) -> anyhow::Result<()> {
        let lease_ms = self.program.timeout_ms + LEASE_MARGIN_MS;
        let reader = EventReader { store: self.store, consumer: &self.consumer.name, lease_ms };
        let until_ms = if self.is_endless { i64::MAX } else { 0 };
        let mut counts = RunCounts::default();
        while self.limit.is_none_or(|limit| counts.total() < limit) {
            let batch = reader.wait_for_events(1, until_ms).await?;
            let Some(delivered) = batch.events.first() else { break };
            counts.add(&self.handle_event(delivered, batch.until_ms).await?);
        }
        counts.report()
    }

    async fn handle_event(
        &self,
        delivered: &DeliveredEvent,
        leased_until_ms: i64,
    ) -> anyhow::Result<ProgramVerdict> {
        let mut held = HeldEvent { handler: self, delivered, is_settled: false };
        let event = clean_json(&delivered_event_json(delivered, leased_until_ms));
        let run = self.program.run(&event).await.map_err(|error| self.start_error(error))?;
        let outcome = self.record(delivered, &run)?;
        held.is_settled = true;
        self.print_run(delivered, &run, outcome)?;
        Ok(run.verdict)
    }

    fn release(&self, delivered: &DeliveredEvent) -> Result<u64, hw_store::StoreError> {
        let delivery = DeliveryRef::Token(delivered.token.clone());
        self.store.release_events(&self.consumer.name, &[delivery], MachineClock.now_ms())
    }

    fn start_error(&self, error: std::io::Error) -> anyhow::Error {
        let program = self.program.program.to_string_lossy();
        let hint = "check its path, and that it may be executed; the event was given back";
        let error = anyhow::Error::new(error).context(format!("cannot run {program}"));
        error.context(ErrorHint(hint.to_owned()))
    }

    /// Stores how a run ended together with what that means for the event.
    fn record(&self, delivered: &DeliveredEvent, run: &ProgramRun) -> anyhow::Result<AckOutcome> {
        let ended_ms = MachineClock.now_ms();
        let retry_at_ms = ended_ms.saturating_add(self.retry_after_ms);
        let outcome = match &run.verdict {
            ProgramVerdict::Acknowledged => ExecutionOutcome::Done,
            ProgramVerdict::RetryLater => ExecutionOutcome::Later { retry_at_ms },
            ProgramVerdict::Failed(reason) => {
                ExecutionOutcome::Retry(Rejection { retry_at_ms, error: Some(reason.clone()) })
            }
        };
        let execution = Execution {
            exit_code: run.exit_code,
            stdout: run.output.clone().into_bytes(),
            ended_ms,
            outcome,
        };
        Ok(self.store.record_execution(&self.consumer.name, &delivered.token, &execution)?)
    }

    /// Prints what a program printed, and what became of its event.
    fn print_run(
        &self,
        delivered: &DeliveredEvent,
        run: &ProgramRun,
        outcome: AckOutcome,
    ) -> anyhow::Result<()> {
        let summary = event_summary(&delivered.event.event);
        let output = run.output.trim_end_matches('\n');
        if !output.is_empty() {
            print_result(output)?;
        }
        if run.is_output_cut {
            print_warning(&format!("{summary}: only the first 64 kB of the output are stored"));
        }
        if outcome != AckOutcome::Acknowledged {
            print_warning(&format!("{summary}: its lease ended during the run, so it comes again"));
        }
        match &run.verdict {
            ProgramVerdict::Acknowledged => {}
            ProgramVerdict::RetryLater => print_status(&format!("{summary}: comes again later")),
            ProgramVerdict::Failed(reason) => {
                let fate = match state_after_failure(delivered.tries, self.consumer.max_tries) {
                    DeliveryState::Dead => "it is a dead letter now",
                    DeliveryState::Leased
                    | DeliveryState::Waiting
                    | DeliveryState::Acknowledged => "it comes again",
                };
                let (tries, max) = (delivered.tries, self.consumer.max_tries);
                print_warning(&format!("{summary}: {reason} (try {tries} of {max}); {fate}"));
            }
        }
        Ok(())
    }
}
