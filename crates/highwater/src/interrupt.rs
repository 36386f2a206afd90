//! Work that a person can stop: with Ctrl-C, or by SIGTERM.

use hw_sync::clock::{Clock as _, MachineClock};
use tokio::sync::oneshot;

use crate::report::{self, Interrupted};

/// How long work that was told to stop may take to do so.
const GRACE_MS: i64 = 1_500;

/// Does the work, or ends with [`Interrupted`] when somebody stops it.
///
/// To stop is to drop the work where it waits: what was kept is whole at any point. Work that does not
/// wait anywhere is left behind after a moment, or at once when it is stopped a second time.
pub(crate) fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(async move {
            signals.next().await;
            // work that has just ended needs no telling
            stop.send(()).ok();
            tokio::select! {
                () = signals.next() => {}
                () = MachineClock.sleep_until(MachineClock.now_ms() + GRACE_MS) => {}
            }
            report::leave(Interrupted);
        });
        tokio::select! {
            done = work => done,
            Ok(()) = stopped => Err(Interrupted.into()),
        }
    });
    // a name that is being looked up, say, is not waited for
    runtime.shutdown_background();
    done
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
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
