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

use posthaste_env::{Thread, os, spawn, wait_until};
use posthaste_server::{Exit, Failure};
use serde::{Deserialize, Serialize};

use crate::measure::Child;

use super::files::{AlignedMemory, TestFiles, open, write_all, write_failed};
use super::measured::Measured;
use super::options::{Block, Plan};
use super::writing::{Device, Layout, run};

/// What one queue manager's loop is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    files: Vec<PathBuf>,
    direct: bool,
    alignment: usize,
    block: usize,
    blocks_per_file: u64,
    duration_ns: u64,
    pause: Duration,
    background: u32,
}

/// A file that refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refusal {
    file: PathBuf,
    os_error: Option<i32>,
    text: String,
}

impl Refusal {
    fn new(file: PathBuf, error: &io::Error) -> Refusal {
        Refusal {
            file,
            os_error: error.raw_os_error(),
            text: error.to_string(),
        }
    }

    fn failure(self, alignment: usize) -> Failure {
        let error = match self.os_error {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::other(self.text),
        };
        write_failed(&self.file, alignment, &error)
    }
}

/// What a loop says.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Ready,
    Measured(Measured),
    Refused(Refusal),
}

struct LogFiles {
    files: Vec<OwnedFd>,
    memory: AlignedMemory,
    begun: Instant,
    pause: Duration,
    stop: Arc<AtomicBool>,
}

impl Device for LogFiles {
    fn prepare(&mut self, number: u64) {
        self.memory.stamp(number);
    }

    fn write(&mut self, file: usize, offset: u64) -> io::Result<()> {
        match self.files.get(file) {
            Some(file) => write_all(file, self.memory.bytes(), offset),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn between(&mut self) -> bool {
        if !self.pause.is_zero() {
            let pause = u64::try_from(self.pause.as_nanos()).unwrap_or(u64::MAX);
            wait_until(os().clock.monotonic().saturating_add(pause));
        }
        !self.stop.load(Relaxed)
    }
}

impl Order {
    fn of(plan: &Plan, files: &TestFiles, block: &Block, paths: &[PathBuf]) -> Order {
        Order {
            files: paths.to_vec(),
            direct: files.direct,
            alignment: plan.alignment,
            block: block.bytes,
            blocks_per_file: plan.file_size / block.bytes as u64,
            duration_ns: u64::try_from(plan.time.as_nanos()).unwrap_or(u64::MAX),
            pause: plan.pause,
            background: plan.background,
        }
    }

    fn open(&self, stop: &Arc<AtomicBool>) -> Result<LogFiles, Refusal> {
        let opened = self.files.iter().map(|path| {
            let file = open(path, false, self.direct);
            file.map_err(|error| Refusal::new(path.clone(), &error.into()))
        });
        Ok(LogFiles {
            files: opened.collect::<Result<Vec<OwnedFd>, Refusal>>()?,
            memory: AlignedMemory::new(self.block, self.alignment),
            begun: Instant::now(),
            pause: self.pause,
            stop: Arc::clone(stop),
        })
    }

    fn run(&self, device: &mut LogFiles) -> Result<Measured, Refusal> {
        let layout = Layout {
            block: self.block as u64,
            blocks_per_file: self.blocks_per_file,
            files: self.files.len(),
        };
        let load = Load::start(self.background);
        let load = load.map_err(|error| Refusal::new("a background thread".into(), &error))?;
        let found = run(device, layout, self.duration_ns);
        drop(load);
        found.map_err(|failed| {
            let file = self.files.get(failed.file).cloned();
            Refusal::new(file.unwrap_or_default(), &failed.error)
        })
    }
}

/// Threads that keep processors busy until this is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<Thread>,
}

impl Load {
    fn start(threads: u32) -> io::Result<Load> {
        let mut load = Load {
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for _ in 0..threads {
            let stop = Arc::clone(&load.stop);
            let busy = move || {
                while !stop.load(Relaxed) {
                    std::hint::spin_loop();
                }
            };
            load.threads.push(spawn("background", busy)?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            // It has nothing that could panic.
            let _ = thread.join();
        }
    }
}

/// Loops that have been started.
struct Running {
    receiver: Receiver<(usize, Option<Answer>)>,
    /// Set, or closed, to end the loops early.
    stop: Arc<AtomicBool>,
    inputs: Vec<ChildStdin>,
    children: Vec<Child>,
}

impl Running {
    /// Why a loop ended without a result.
    fn ended(&mut self, index: usize) -> Failure {
        let status = self.children.get_mut(index).map(Child::wait);
        status.map_or_else(no_result, |status| match status {
            Ok(status) => ended(status),
            Err(error) => no_process(&error),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        self.inputs.clear();
        // Normally they have ended; otherwise they must not go on writing.
        self.children.clear();
    }
}

/// How often the person at the terminal is listened to.
const TICK: Duration = Duration::from_millis(200);

/// Measures one block size. `tick` hears some times a second how much time has passed, and says whether to go
/// on.
pub(super) fn execute(
    plan: &Plan,
    files: &TestFiles,
    block: &Block,
    tick: &mut dyn FnMut(Duration) -> bool,
) -> Result<Measured, Failure> {
    let orders = files.paths.iter();
    let orders: Vec<Order> = orders
        .map(|paths| Order::of(plan, files, block, paths))
        .collect();
    let mut running = match orders.as_slice() {
        [only] => here(only.clone())?,
        _ => processes(&orders)?,
    };
    let mut found = vec![None; orders.len()];
    let begun = Instant::now();
    let mut next = TICK;
    while found.iter().any(Option::is_none) {
        let left = next.saturating_sub(begun.elapsed());
        match running.receiver.recv_timeout(left) {
            Ok((index, Some(Answer::Measured(measured)))) => {
                if let Some(place) = found.get_mut(index) {
                    *place = Some(measured);
                }
            }
            Ok((_, Some(Answer::Refused(refusal)))) => return Err(refusal.failure(plan.alignment)),
            Ok((_, Some(Answer::Ready))) => {}
            Ok((index, None)) if found.get(index).is_some_and(Option::is_some) => {}
            Ok((index, None)) => return Err(running.ended(index)),
            Err(RecvTimeoutError::Disconnected) => return Err(no_result()),
            Err(RecvTimeoutError::Timeout) => {
                if !tick(begun.elapsed()) {
                    running.stop.store(true, Relaxed);
                    running.inputs.clear();
                }
                next += TICK;
            }
        }
    }
    let all: Vec<Measured> = found.into_iter().flatten().collect();
    Measured::together(all).ok_or_else(no_result)
}

fn no_result() -> Failure {
    let what = "a process of the disk test ended without a result";
    Failure::new(Exit::Internal, "AMQ6109S", &[what])
}

/// A process that ended before it had a result.
fn ended(status: ExitStatus) -> Failure {
    let what = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("a process of the test was ended by signal {signal}"),
        // It has said why.
        (None, Some(code)) if code != 0 => {
            format!("a process of the test ended with exit code {code}")
        }
        _ => return no_result(),
    };
    Failure::new(Exit::CallFailed, "AMQ2502E", &[&what])
}

fn no_process(error: &io::Error) -> Failure {
    let what = "a further process or thread";
    Failure::new(Exit::Unusable, "AMQ2008E", &[what, &error.to_string()])
}

/// The loop in a thread.
fn here(order: Order) -> Result<Running, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut device = order
        .open(&stop)
        .map_err(|refusal| refusal.failure(order.alignment))?;
    let (sender, receiver) = mpsc::channel();
    let thread = spawn("writer", move || {
        let answer = match order.run(&mut device) {
            Ok(measured) => Answer::Measured(measured),
            Err(refusal) => Answer::Refused(refusal),
        };
        // Nobody listens any more when the test has failed otherwise.
        let _ = sender.send((0, Some(answer)));
    });
    thread.map_err(|error| no_process(&error))?;
    Ok(Running {
        receiver,
        stop,
        inputs: Vec::new(),
        children: Vec::new(),
    })
}

/// The loops in processes, all ready and told to begin.
fn processes(orders: &[Order]) -> Result<Running, Failure> {
    let (sender, receiver) = mpsc::channel();
    let mut running = Running {
        receiver,
        stop: Arc::new(AtomicBool::new(false)),
        inputs: Vec::new(),
        children: Vec::new(),
    };
    for (index, order) in orders.iter().enumerate() {
        let started = start(order, index, sender.clone(), &mut running);
        started.map_err(|error| no_process(&error))?;
    }
    drop(sender);
    for _ in orders {
        match running.receiver.recv() {
            Ok((_, Some(Answer::Ready))) => {}
            Ok((_, Some(Answer::Refused(refusal)))) => {
                let alignment = orders.first().map_or(0, |order| order.alignment);
                return Err(refusal.failure(alignment));
            }
            Ok((index, None)) => return Err(running.ended(index)),
            _ => return Err(no_result()),
        }
    }
    for input in &mut running.inputs {
        // One that has gone is noticed by the end of its output.
        let _ = input.write_all(b"go\n");
    }
    Ok(running)
}

fn start(
    order: &Order,
    index: usize,
    sender: Sender<(usize, Option<Answer>)>,
    running: &mut Running,
) -> io::Result<()> {
    let mut order = serde_json::to_vec(order)?;
    order.push(b'\n');
    let mut command = Command::new(std::env::current_exe()?);
    // A copy of the program by the name of mqldt would take that for the subcommand.
    command.arg0("posthaste").args(["disktest", "--worker"]);
    command.stdin(Stdio::piped());
    let mut child = Child::start_for(command, move |line| {
        let answer = line.and_then(|line| serde_json::from_str(&line).ok());
        // Nobody listens any more when the test has failed otherwise.
        let _ = sender.send((index, answer));
    })?;
    let input = child.input();
    running.children.push(child);
    let mut input = input.ok_or(io::ErrorKind::BrokenPipe)?;
    // One that has gone already is noticed by the end of its output.
    let _ = input.write_all(&order);
    running.inputs.push(input);
    Ok(())
}

/// One process of `--qm`: see the head of this file.
pub(super) fn serve() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    input.read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut device = match order.open(&stop) {
        Ok(device) => device,
        Err(refusal) => return answer(&Answer::Refused(refusal)),
    };
    answer(&Answer::Ready)?;
    line.clear();
    if input.read_line(&mut line)? == 0 {
        return Ok(());
    }
    let stopping = Arc::clone(&stop);
    spawn("end of input", move || {
        // Nothing more is sent; whether it ends or fails, nobody waits any more.
        let _ = input.read_line(&mut line);
        stopping.store(true, Relaxed);
    })?;
    match order.run(&mut device) {
        Ok(measured) => answer(&Answer::Measured(measured)),
        Err(refusal) => answer(&Answer::Refused(refusal)),
    }
}

fn answer(answer: &Answer) -> io::Result<()> {
    let mut text = serde_json::to_vec(answer)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
