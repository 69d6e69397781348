//! The measured loop in a thread of this process, or, for `--qm`, in one process for each queue manager.
//!
//! A process of `--qm` is this program again. It gets its [`Order`] as a line of JSON on standard input, opens
//! its files, says that it is ready, and begins when the next line comes, so that all begin together. It
//! ends early when its standard input ends, so it does not outlive whoever started it. It makes and removes no
//! files.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use posthaste_env::{os, spawn, wait_until};
use posthaste_server::{Exit, Failure};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::files::{TestFiles, write_failed};
use super::forced::{AlignedMemory, Device, Layout, open, run, write_all};
use super::measured::Measured;
use super::options::{Block, DiskTestArgs};
use crate::measure::Child;

/// What one queue manager's loop is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    files: Vec<PathBuf>,
    direct: bool,
    alignment: usize,
    layout: Layout,
    time: Duration,
    pause: Duration,
    background: u32,
}

/// What a loop says.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Ready,
    Measured(Measured),
    /// What refused, and the system's number of the error.
    Refused(PathBuf, i32),
}

fn refused(what: PathBuf, error: Errno) -> Answer {
    Answer::Refused(what, error.raw_os_error())
}

struct LogFiles {
    files: Vec<OwnedFd>,
    memory: AlignedMemory,
    begun: Instant,
    pause: Duration,
    stop: Arc<AtomicBool>,
}

impl Device for LogFiles {
    fn prepare(&mut self, number: u64) -> bool {
        if !self.pause.is_zero() && number > 1 {
            let pause = u64::try_from(self.pause.as_nanos()).unwrap_or(u64::MAX);
            wait_until(os().clock.monotonic().saturating_add(pause));
        }
        self.memory.stamp(number);
        number == 1 || !self.stop.load(Relaxed)
    }

    fn write(&mut self, file: usize, offset: u64) -> Result<(), Errno> {
        let file = self.files.get(file).ok_or(Errno::NOENT)?;
        write_all(file, self.memory.bytes(), offset)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Order {
    /// Carries it out, saying how it goes; `go` waits until it is to begin, and says whether it is.
    fn carry_out(&self, stop: &Arc<AtomicBool>, say: impl Fn(Answer), go: impl FnOnce() -> bool) {
        let mut files = Vec::new();
        for path in &self.files {
            match open(path, false, self.direct) {
                Ok(file) => files.push(file),
                Err(error) => return say(refused(path.clone(), error)),
            }
        }
        let mut device = LogFiles {
            files,
            memory: AlignedMemory::new(self.layout.block as usize, self.alignment),
            begun: Instant::now(),
            pause: self.pause,
            stop: Arc::clone(stop),
        };
        say(Answer::Ready);
        if go() {
            let busy = Arc::new(AtomicBool::new(true));
            let loaded = load(self.background, &busy);
            let answer = match loaded.map(|()| run(&mut device, self.layout, self.time)) {
                Ok(Ok(measured)) => Answer::Measured(measured),
                Ok(Err((file, error))) => {
                    refused(self.files.get(file).cloned().unwrap_or_default(), error)
                }
                Err(error) => {
                    let error = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
                    refused("a background thread".into(), error)
                }
            };
            busy.store(false, Relaxed);
            say(answer);
        }
    }
}

/// Threads that keep processors busy as long as they are to.
fn load(threads: u32, busy: &Arc<AtomicBool>) -> io::Result<()> {
    (0..threads).try_for_each(|_| {
        let busy = Arc::clone(busy);
        let thread = spawn("background", move || {
            while busy.load(Relaxed) {
                std::hint::spin_loop();
            }
        });
        thread.map(drop)
    })
}

/// Loops that have been started.
struct Loops {
    hear: Receiver<(usize, Option<Answer>)>,
    /// Set, or closed, to end the loops early.
    stop: Arc<AtomicBool>,
    inputs: Vec<ChildStdin>,
    children: Vec<Child>,
}

impl Loops {
    /// One in a thread, several in processes.
    fn start(orders: &[Order]) -> io::Result<Loops> {
        let (say, hear) = mpsc::channel();
        let mut loops = Loops {
            hear,
            stop: Arc::default(),
            inputs: Vec::new(),
            children: Vec::new(),
        };
        if let [order] = orders {
            let (order, stop) = (order.clone(), Arc::clone(&loops.stop));
            // Nobody listens any more when the test has failed otherwise.
            let say = move |answer| drop(say.send((0, Some(answer))));
            spawn("writer", move || order.carry_out(&stop, say, || true))?;
            return Ok(loops);
        }
        for (index, order) in orders.iter().enumerate() {
            loops.start_process(order, index, say.clone())?;
        }
        Ok(loops)
    }

    fn start_process(
        &mut self,
        order: &Order,
        index: usize,
        say: Sender<(usize, Option<Answer>)>,
    ) -> io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        // A copy of the program by the name of mqldt would take that for the subcommand.
        command.arg0("posthaste").args(["disktest", "--worker"]);
        command.stdin(Stdio::piped());
        let mut child = Child::start_for(command, move |line| {
            let answer = line.and_then(|line| serde_json::from_str(&line).ok());
            // Nobody listens any more when the test has failed otherwise.
            let _ = say.send((index, answer));
        })?;
        let input = child.input();
        self.children.push(child);
        let mut input = input.ok_or(io::ErrorKind::BrokenPipe)?;
        // One that has gone already is noticed by the end of its output.
        let _ = writeln!(input, "{}", serde_json::to_string(order)?);
        self.inputs.push(input);
        Ok(())
    }

    fn go(&mut self) {
        for input in &mut self.inputs {
            // One that has gone is noticed by the end of its output.
            let _ = input.write_all(b"go\n");
        }
    }

    fn end(&mut self) {
        self.stop.store(true, Relaxed);
        self.inputs.clear();
    }

    /// Why a loop ended without a result.
    fn ended(&mut self, index: usize) -> Failure {
        match self.children.get_mut(index).map(Child::wait) {
            Some(Ok(status)) => ended(status),
            Some(Err(error)) => no_process(&error),
            None => no_result(),
        }
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        // Normally they have ended; otherwise they must not go on writing.
        self.end();
        self.children.clear();
    }
}

/// How often the person at the terminal is listened to.
const TICK: Duration = Duration::from_millis(200);

/// Measures one block size. `tick` hears some times a second how much time has passed, and says whether to go
/// on.
pub(super) fn execute(
    args: &DiskTestArgs,
    files: &TestFiles,
    block: &Block,
    tick: &mut dyn FnMut(Duration) -> bool,
) -> Result<Measured, Failure> {
    let orders = files.paths.iter().map(|paths| Order {
        files: paths.clone(),
        direct: files.direct,
        alignment: args.alignment,
        layout: Layout {
            block: block.bytes as u64,
            blocks_per_file: args.file_size / block.bytes as u64,
            files: paths.len(),
        },
        time: args.duration,
        pause: args.pause,
        background: args.background,
    });
    let orders: Vec<Order> = orders.collect();
    let mut loops = Loops::start(&orders).map_err(|error| no_process(&error))?;
    let mut found = vec![None; orders.len()];
    let (mut ready, mut begun, mut next) = (0, Instant::now(), TICK);
    while found.iter().any(Option::is_none) {
        match loops
            .hear
            .recv_timeout(next.saturating_sub(begun.elapsed()))
        {
            Ok((_, Some(Answer::Ready))) => {
                ready += 1;
                if ready == orders.len() {
                    loops.go();
                    (begun, next) = (Instant::now(), TICK);
                }
            }
            Ok((index, Some(Answer::Measured(measured)))) => {
                if let Some(place) = found.get_mut(index) {
                    *place = Some(measured);
                }
            }
            Ok((_, Some(Answer::Refused(file, error)))) => {
                let error = Errno::from_raw_os_error(error);
                return Err(write_failed(&file, args.alignment, error));
            }
            Ok((index, None)) if found.get(index).is_some_and(Option::is_some) => {}
            Ok((index, None)) => return Err(loops.ended(index)),
            Err(RecvTimeoutError::Disconnected) => return Err(no_result()),
            Err(RecvTimeoutError::Timeout) => {
                // One that has not begun has no result to end with.
                if ready == orders.len() && !tick(begun.elapsed()) {
                    loops.end();
                }
                next += TICK;
            }
        }
    }
    Measured::together(found.into_iter().flatten().collect()).ok_or_else(no_result)
}

fn no_result() -> Failure {
    let what = "a process of the disk test ended without a result";
    Failure::new(Exit::Internal, "AMQ6109S", &[what])
}

/// A process that ended before it had a result.
fn ended(status: ExitStatus) -> Failure {
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        // It has said why.
        (None, Some(code)) if code != 0 => format!("ended with exit code {code}"),
        _ => return no_result(),
    };
    let what = format!("a process of the test {how}");
    Failure::new(Exit::CallFailed, "AMQ2502E", &[&what])
}

fn no_process(error: &io::Error) -> Failure {
    let what = "a further process or thread";
    Failure::new(Exit::Unusable, "AMQ2008E", &[what, &error.to_string()])
}

/// One process of `--qm`: see the head of this file.
pub(super) fn serve() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    input.read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    order.carry_out(&stop, say, move || {
        let mut line = String::new();
        let wanted = input.read_line(&mut line).is_ok_and(|count| count > 0);
        let watched = spawn("end of input", move || {
            // Nothing more is sent; whether it ends or fails, nobody waits any more.
            let _ = input.read_line(&mut line);
            stopping.store(true, Relaxed);
        });
        wanted && watched.is_ok()
    });
    Ok(())
}

/// A line of standard output; whoever reads it notices when it is not whole.
fn say(answer: Answer) {
    let mut out = io::stdout().lock();
    let _ = serde_json::to_string(&answer)
        .map_err(io::Error::from)
        .and_then(|text| writeln!(out, "{text}"))
        .and_then(|()| out.flush());
}
