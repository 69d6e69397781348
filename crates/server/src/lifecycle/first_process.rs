//! As the first process of a container a queue manager runs in a child of this process, which looks after it.
//!
//! The system keeps from process 1 of a PID namespace all signals that it does not catch, those of its own `abort` too,
//! and gives it the processes that others leave behind (`pid_namespaces(7)`). A queue manager that recovers is ended by a
//! signal, one that panics aborts, and neither knows other processes than those it started: so it must not be process 1.
//!
//! Invariants: what asks for an end is passed on, and heard by a child that is stopped, too; nobody stops the child by typing, as nobody
//! stops a process 1; what ends is reaped; this process ends when the child does, and with its exit code, or as a shell has that of
//! one that a signal ended: 128 and the signal's number.

use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use tokio::signal::unix::{self, SignalKind};

use crate::failure::Failure;

/// Whether this is the first process of a container, or of the machine.
pub fn is_first() -> bool {
    getpid().is_init()
}

/// Has the command line carried out by a child, and waits for its end.
///
/// # Errors
/// Signals cannot be caught, or no process can be started.
pub fn stand_by() -> Result<ExitCode, Failure> {
    look_after().map_err(|error| Failure::thread(&error))
}

fn look_after() -> io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let child = start()?;
        loop {
            if let Some(ended) = reap(child)? {
                return Ok(ExitCode::from(exit_code(ended)));
            }
            if let Some(signal) = signals.next().await {
                // It is there, or is still to be reaped.
                kill_process(child, signal)?;
                kill_process(child, Signal::CONT)?;
            }
        }
    })
}

/// The same program with the same arguments. Where there is a terminal, and this process has it, it is the child's, so that what is
/// typed there reaches the child alone, once.
fn start() -> io::Result<Pid> {
    let terminal = Some(io::stdin()).filter(IsTerminal::is_terminal);
    let mut arguments = std::env::args_os();
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    command.args(arguments);
    if terminal.is_some() {
        command.process_group(0);
    }
    let child = Pid::from_child(&command.spawn()?);
    // Else a shell has it, and takes it from nobody who is in the background: whoever asked would be stopped.
    if let Some(terminal) = &terminal
        && tcgetpgrp(terminal) == Ok(getpid())
    {
        tcsetpgrp(terminal, child)?;
    }
    Ok(child)
}

/// Takes what has ended off the table of processes, and has the child go on that Ctrl-Z has stopped; how the child ended, if it has.
fn reap(child: Pid) -> io::Result<Option<WaitStatus>> {
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some((process, status))) if status.stopped() => {
                let typed = status.stopping_signal() == Some(Signal::TSTP.as_raw());
                if process == child && typed {
                    kill_process(child, Signal::CONT)?;
                }
            }
            Ok(Some((process, status))) if process == child => return Ok(Some(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_code(ended: WaitStatus) -> u8 {
    let signal = ended.terminating_signal().map(|signal| 128 + signal);
    let code = ended.exit_status().or(signal);
    code.and_then(|code| code.try_into().ok())
        .unwrap_or(u8::MAX)
}

/// What the system and the terminal send to this process.
struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
    quit: unix::Signal,
    child: unix::Signal,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        let listen = unix::signal;
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            quit: listen(SignalKind::quit())?,
            child: listen(SignalKind::child())?,
        })
    }

    /// The next to be passed on; none: something has ended.
    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            _ = self.interrupt.recv() => Some(Signal::INT),
            _ = self.terminate.recv() => Some(Signal::TERM),
            _ = self.hangup.recv() => Some(Signal::HUP),
            _ = self.quit.recv() => Some(Signal::QUIT),
            _ = self.child.recv() => None,
        }
    }
}
