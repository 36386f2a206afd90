//! Runs work that can be stopped: with Ctrl-C, by SIGTERM, or by closing the terminal (SIGHUP).

#[cfg(unix)]
mod hangup;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use hw_sources::transport::{HttpRequest, ResponseFuture, Transport};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use crate::report::{self, InterruptedError};

/// The time that work has to stop before the process ends.
const GRACE_MS: i64 = 1_500;

/// A transport that delivers no more responses once the work should stop.
///
/// Many responses can arrive at once, and the work would store all of them before it reaches its next await.
pub(crate) struct StoppableTransport {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) stop: CancellationToken,
}

impl Transport for StoppableTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        Box::pin(async move {
            let response = self.transport.send(request).await;
            if self.stop.is_cancelled() {
                std::future::pending::<()>().await;
            }
            response
        })
    }

    fn reset_connections(&self) {
        self.transport.reset_connections();
    }
}

/// Returns [`InterruptedError`] once the work should stop.
pub(crate) fn check_stop(stop: &CancellationToken) -> Result<(), InterruptedError> {
    if stop.is_cancelled() { Err(InterruptedError) } else { Ok(()) }
}

/// Runs the work, or returns [`InterruptedError`] when it is stopped.
///
/// Stopping drops the work at its next await, which is safe because stored data is consistent at any point. If the
/// work does not await, the process ends after a grace period, or at once on a second signal.
pub(crate) fn run<T>(
    stop: &CancellationToken,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    run_with_signals(stop, async {
        tokio::select! {
            result = work => result,
            () = stop.cancelled() => Err(InterruptedError.into()),
        }
    })
}

/// Runs work that has no end of its own, and that shuts down in good order when its token is canceled.
pub(crate) fn run_until_stopped<T>(
    work: impl AsyncFnOnce(CancellationToken) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let stop = CancellationToken::new();
    run_with_signals(&stop, work(stop.clone()))
}

/// Runs blocking work, which checks `stop` itself at points where nothing is half done.
pub(crate) fn run_blocking<T: Send + 'static>(
    stop: &CancellationToken,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let task = async { tokio::task::spawn_blocking(work).await.context("the work panicked")? };
    run_with_signals(stop, task)
}

/// Runs the work and cancels `stop` at the first signal, and ends the process if the work does not stop in time.
fn run_with_signals<T>(
    stop: &CancellationToken,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let is_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_ended);
    let result = runtime.block_on(async {
        let mut signals = StopSignalListener::listen()?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signals.next().await;
            stop.cancel();
            tokio::select! {
                () = signals.next() => {}
                () = MachineClock.sleep_until(MachineClock.now_ms() + GRACE_MS) => {}
            }
            // work that ended meanwhile reports its own result
            if !ended.swap(true, Ordering::SeqCst) {
                report::exit_now(InterruptedError);
            }
        });
        work.await
    });
    if is_ended.swap(true, Ordering::SeqCst) {
        // the signal task is ending the process at this moment
        std::thread::park();
    }
    // does not wait for blocking tasks, such as a DNS lookup
    runtime.shutdown_background();
    result
}

/// The signal for a file that exceeds its size limit.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

#[cfg(unix)]
struct StopSignalListener {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where hangups are ignored.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl StopSignalListener {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // once handled, the limit is an error of the write instead of the end of the process
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);
        let hangup = if hangup::is_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())?, hangup })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup::wait_for_hangup(self.hangup.as_mut()) => {}
        }
    }
}

#[cfg(not(unix))]
struct StopSignalListener;

#[cfg(not(unix))]
impl StopSignalListener {
    #[expect(clippy::unnecessary_wraps, reason = "the Unix version can fail")]
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // without a listener, no signal ever arrives
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
