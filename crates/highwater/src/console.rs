//! The pull console on this process's terminal, which there is one of.
//!
//! While it is open, everything that would be written to stderr becomes part of it. However the process
//! ends, by itself, by a signal or by a panic, the terminal is given back as it was found.

pub(crate) mod logs;
mod screen;
mod signals;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

use hw_rules::lane::Choice;
use hw_rules::news::News;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_tui::console::{Ending, NARROWEST, Paint, State, Tone};

use crate::config::Settings;
use crate::terminal;
use screen::{Screen, size};
use signals::{Signal, Signals};

/// The shortest time between two frames.
const BETWEEN_FRAMES_MS: i64 = 200;

/// What is shown. Nobody holds it while they write: a terminal may take its time.
static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);
/// Whoever writes holds this, so that no two of them overlap.
static PEN: Mutex<()> = Mutex::new(());

/// The console, until it is closed or dropped.
pub(crate) struct Console(());

impl Console {
    /// Opens it where there is a terminal that can show it.
    pub(crate) fn open(items: &BTreeSet<Choice>, settings: &Settings) -> Option<Self> {
        let now_ms = MachineClock.now_ms();
        let state = State::new(items, now_ms);
        if !can_show(&state, settings.screen.name.as_deref()) {
            return None;
        }
        put_away_on_panic();
        let signals = Signals::listen();
        let paint = if settings.screen.no_color { Paint::NoColours } else { Paint::Colours };
        let (opened, frame) = Screen::open(state, paint, now_ms);
        *screen() = Some(opened);
        write_if_open(&frame);
        tokio::spawn(keep_drawing(signals));
        Some(Self(()))
    }

    /// Leaves the last frame on the terminal, with what follows below it.
    pub(crate) fn close(self, ending: &Ending) {
        close(ending);
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        put_away();
    }
}

/// Takes in what a pull tells.
pub(crate) fn hear(news: News) {
    if let Some(screen) = screen().as_mut() {
        screen.state.hear(masked(news), MachineClock.now_ms());
    }
}

/// What came from outside, without this run's secrets.
fn masked(mut news: News) -> News {
    if let News::Retried { why: text, .. }
    | News::Paused { why: text, .. }
    | News::Failed { message: text, .. } = &mut news
    {
        *text = terminal::shown_line(text);
    }
    news
}

/// Gives the terminal back, if the console still has it.
pub(crate) fn put_away() {
    close(&Ending::Stopped);
}

fn close(ending: &Ending) {
    let _pen = pen();
    let taken = screen().take();
    if let Some(screen) = taken {
        write(&screen.close(ending, MachineClock.now_ms()));
    }
}

/// Writes a frame, unless the terminal was given back meanwhile.
fn write_if_open(frame: &str) {
    let _pen = pen();
    if is_open() {
        write(frame);
    }
}

/// A closed stderr leaves nobody to show it to.
fn write(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}

/// Writes a frame where it keeps nobody waiting but the next one.
async fn show(frame: String) {
    // a thread that panicked has told so
    tokio::task::spawn_blocking(move || write_if_open(&frame)).await.ok();
}

fn log(tone: Tone, text: &str) {
    if let Some(screen) = screen().as_mut() {
        screen.state.log(tone, &terminal::shown_line(text), MachineClock.now_ms());
    }
}

/// Writes something else to the terminal, unless the console has it.
pub(crate) fn unless_open(write: impl FnOnce()) {
    let _pen = pen();
    if !is_open() {
        write();
    }
}

fn is_open() -> bool {
    screen().is_some()
}

fn can_show(state: &State, terminal: Option<&str>) -> bool {
    let is_able = terminal.is_some_and(|name| name != "dumb");
    let fits = |(columns, rows)| NARROWEST <= columns && state.height() <= rows;
    cfg!(unix) && is_able && std::io::stderr().is_terminal() && size().is_some_and(fits)
}

/// Draws whatever changed, until the console is closed; after a resize as soon as it may.
async fn keep_drawing(mut signals: Signals) {
    loop {
        let is_asked_to_stop = tokio::select! {
            () = MachineClock.sleep_until(MachineClock.now_ms() + BETWEEN_FRAMES_MS) => false,
            signal = signals.next() => signal == Signal::Stop,
        };
        if is_asked_to_stop {
            rest(&mut signals).await;
        }
        let Some(shown_ms) = screen().as_ref().map(Screen::shown_ms) else { return };
        MachineClock.sleep_until(shown_ms + BETWEEN_FRAMES_MS).await;
        let frame = screen().as_mut().and_then(|screen| screen.next(MachineClock.now_ms()));
        if let Some(frame) = frame {
            show(frame).await;
        }
    }
}

/// Gives the terminal back until somebody lets the process go on, and takes it again.
async fn rest(signals: &mut Signals) {
    show(screen::GIVE_BACK.concat()).await;
    signals.stop().await;
    let frame = screen().as_mut().map(|screen| screen.anew(MachineClock.now_ms()));
    show(frame.unwrap_or_default()).await;
}

/// A panic's message belongs on the terminal that people look at.
fn put_away_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let screen = match SCREEN.try_lock() {
                Ok(mut screen) => screen.take(),
                Err(TryLockError::Poisoned(screen)) => screen.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            };
            match screen {
                Some(screen) => write(&screen.close(&Ending::Stopped, MachineClock.now_ms())),
                None => write(&screen::GIVE_BACK.concat()),
            }
            others(panic);
        }));
    });
}

fn pen() -> MutexGuard<'static, ()> {
    PEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A poisoned lock means that somebody panicked; what is known is still known.
fn screen() -> MutexGuard<'static, Option<Screen>> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}
