//! Work that a person can stop: with Ctrl-C, by SIGTERM, or by closing the terminal (SIGHUP).

#[cfg(unix)]
mod hangup;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use hw_sources::transport::{Request, Sending, Transport};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio::sync::oneshot;

use crate::report::{self, Interrupted};

/// How long work that was told to stop may take to do so.
const GRACE_MS: i64 = 1_500;

/// Whether somebody wants the work to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// Requests to a source that lead to nothing new once somebody wants the work to stop.
///
/// Many answers can be there at once, and each would be kept before the work waits anywhere.
pub(crate) struct Stoppable {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) stop: Stop,
}

impl Transport for Stoppable {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let answer = self.transport.send(request).await;
            if self.stop.0.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            answer
        })
    }

    fn renew(&self) {
        self.transport.renew();
    }
}

impl Stop {
    /// Ends with [`Interrupted`] once somebody wants the work to stop.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        if self.0.load(Ordering::SeqCst) { Err(Interrupted) } else { Ok(()) }
    }
}

/// Does the work, or ends with [`Interrupted`] when somebody stops it.
///
/// To stop is to drop the work where it waits: what was kept is whole at any point. Work that does not
/// wait anywhere is left behind after a moment, or at once when it is stopped a second time.
pub(crate) fn run<T>(
    stop: &Stop,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    listening(stop, |stopped| async {
        tokio::select! {
            done = work => done,
            Ok(()) = stopped => Err(Interrupted.into()),
        }
    })
}

/// Does work that has no end of its own, and ends by itself, well, soon after it is told to stop.
pub(crate) fn serve<T>(work: impl AsyncFnOnce(Stopped) -> anyhow::Result<T>) -> anyhow::Result<T> {
    listening(&Stop::default(), |stopped| async {
        let stopped: Stopped = Box::pin(async move {
            // whoever would tell is there as long as the work is
            stopped.await.ok();
        });
        work(stopped).await
    })
}

/// Waits until somebody wants the work to stop.
pub(crate) type Stopped = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Does work that waits nowhere, and asks `stop` itself where it leaves nothing half done.
pub(crate) fn run_aside<T: Send + 'static>(
    stop: &Stop,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let aside = async { tokio::task::spawn_blocking(work).await.context("the work broke off")? };
    listening(stop, |_stopped| aside)
}

/// Does the work while somebody listens for signals, and ends the process if it does not end then.
fn listening<T, Work>(
    stop: &Stop,
    work: impl FnOnce(oneshot::Receiver<()>) -> Work,
) -> anyhow::Result<T>
where
    Work: Future<Output = anyhow::Result<T>>,
{
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let is_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_ended);
    let done = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let (tell, stopped) = oneshot::channel();
        let stop = stop.clone();
        tokio::spawn(async move {
            signals.next().await;
            stop.0.store(true, Ordering::SeqCst);
            // work that has just ended needs no telling
            tell.send(()).ok();
            tokio::select! {
                () = signals.next() => {}
                () = MachineClock.sleep_until(MachineClock.now_ms() + GRACE_MS) => {}
            }
            // what has ended meanwhile tells so itself
            if !ended.swap(true, Ordering::SeqCst) {
                report::leave(Interrupted);
            }
        });
        work(stopped).await
    });
    if is_ended.swap(true, Ordering::SeqCst) {
        // somebody is leaving for us at this moment, and says so
        std::thread::park();
    }
    // a name that is being looked up, say, is not waited for
    runtime.shutdown_background();
    done
}

/// The signal of a file that would grow beyond its limit.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None where hangups are ignored.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // a limit on the size of files is an error that is told, and not the end of the process
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);
        let hangup = if hangup::is_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())?, hangup })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup::wait(self.hangup.as_mut()) => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // where nothing can be listened for, nothing comes
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
