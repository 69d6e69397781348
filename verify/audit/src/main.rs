//! `posthaste-audit`: kills real servers under load and audits every message.
//!
//! A real server runs on a real file system with a small log (so that it wraps, needs its secondary
//! files and takes checkpoints all the time) and small queue buffers (so that messages spill). Many
//! connections put and get, in and out of syncpoint. At a random moment the server is killed with
//! SIGKILL, or its power is cut, or it is told to end (SIGTERM, `endmqm -i`); it is started again, and every
//! queue is browsed: [`judge`] says what may be there.
//!
//! * [`campaign`]: rounds of work, kill, restart, judgement.
//! * [`definer`]: an administrator who defines and deletes queues meanwhile; [`cutter`]: a network that cuts.
//! * [`worker`]: one connection's work, publications to durable subscriptions among it; [`stage`]: what they share; [`payload`]: their messages.
//! * [`power`]: a volume that loses what was not synced when the power is cut.
//! * [`old_log`]: the log of an earlier run in the place of the right one.
//! * [`small_disk`]: a file system that is filled, and has to heal.
//! * [`server`]: the process; [`snapshot`]: what is on its queues.
//! * [`history`]: the record; [`ledger`]: what is known between rounds; [`judge`]: the rules, pure.
//! * [`plant`]: falsifies the record, to prove that the judge finds it.

mod campaign;
mod cutter;
mod definer;
mod history;
mod judge;
mod ledger;
mod old_log;
mod payload;
mod plant;
mod power;
mod server;
mod small_disk;
mod snapshot;
mod stage;
mod violation;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tempfile::TempDir;

use campaign::{Campaign, Plan, Report};
use plant::Plant;
use power::PowerSupply;
use server::Site;
use small_disk::{FileSystem, Rounds, SmallDisk};

/// Kills a real server under load, again and again, and audits every message.
///
/// Exit status: 0 all is well (with --plant: what was planted was found, and nothing else),
/// 1 a promise is broken or the audit could not be carried out.
#[derive(Parser)]
struct Arguments {
    /// How often to kill the server
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Give up (exit status 1) if that takes longer than so many seconds
    #[arg(long, default_value_t = 1_200)]
    seconds: u64,
    /// What to repeat; without it, another load every time
    #[arg(long)]
    seed: Option<u64>,
    /// Connections at a time, at most 999
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=999))]
    connections: u32,
    /// The server's binary; without it, `posthaste` beside this program
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// An empty folder for the server's files, kept; without it, a temporary one, kept on failure
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Cut the power instead: the server's files lie on a volume (FUSE; needs root) that drops what was not
    /// synced, tears the last writes and reorders between syncs
    #[arg(long)]
    power_cuts: bool,
    /// Instead: fill a file system of so many MiB (on a loop device; needs root) as often as --kills says,
    /// kill or end the server on it, empty the queue, and see that there is room again
    #[arg(long, value_name = "MIB", conflicts_with_all = ["power_cuts", "plant"], value_parser = clap::value_parser!(u64).range(60..=4_000))]
    small_disk: Option<u64>,
    /// The kind of that file system (XFS is made of no less than 300 MiB)
    #[arg(long, requires = "small_disk", default_value = "ext4")]
    file_system: FileSystem,
    /// Falsify the record in this way, to prove that it is found
    #[arg(long)]
    plant: Option<Plant>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match audit(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("posthaste-audit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn program(named: Option<&PathBuf>) -> io::Result<PathBuf> {
    let path = match named {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name("posthaste"),
    };
    match path.is_file() {
        true => Ok(path),
        false => Err(io::Error::other(format!(
            "there is no server at {}; build it with the same profile (cargo build [--release]) or name it with --server",
            path.display()
        ))),
    }
}

/// A seed nobody chose.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let hasher = std::collections::hash_map::RandomState::new().build_hasher();
    // Short enough to be typed.
    hasher.finish() % 1_000_000_000
}

fn audit(arguments: &Arguments) -> io::Result<bool> {
    let program = program(arguments.server.as_ref())?;
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let temporary = match arguments.data_dir {
        Some(_) => None,
        None => Some(TempDir::with_prefix("posthaste-audit-")?),
    };
    let folder = match (&arguments.data_dir, &temporary) {
        (Some(named), _) => named.clone(),
        (None, Some(temporary)) => temporary.path().to_owned(),
        (None, None) => PathBuf::new(),
    };
    let data = folder.join("data");
    std::fs::create_dir_all(&data)?;
    let plan = Plan {
        seed,
        kills: arguments.kills,
        seconds: arguments.seconds,
        connections: arguments.connections,
        plant: arguments.plant,
    };
    let site = Site {
        program,
        data,
        words: folder.join("server.err"),
        log: (64, 12, 20),
        buffer: 65_536,
    };
    if let Some(mib) = arguments.small_disk {
        return fill_small_disk(
            &site,
            &folder,
            seed,
            arguments.kills,
            (mib, arguments.file_system),
        );
    }
    let power = match arguments.power_cuts {
        true => Some(PowerSupply::mount(&site.data, seed)?),
        false => None,
    };
    let fine = run_campaign(&site, &plan, power.as_ref())?;
    if !fine {
        if let Some(power) = &power {
            power.save(&folder.join("volume"))?;
        }
        if let Some(temporary) = temporary {
            println!("The files stay in {}.", temporary.keep().display());
        }
        let planted = plan.plant.map(|plant| format!(" --plant {plant:?}"));
        println!(
            "The same load again: cargo build --release && cargo run --release -p posthaste-audit -- --seed {seed} --kills {} --connections {}{}{}",
            plan.kills,
            plan.connections,
            if power.is_some() { " --power-cuts" } else { "" },
            planted.unwrap_or_default().to_lowercase()
        );
    }
    Ok(fine)
}

/// Runs a campaign; true if all is well.
fn run_campaign(site: &Site, plan: &Plan, power: Option<&PowerSupply>) -> io::Result<bool> {
    println!(
        "audit of {} with seed {}: {} {}, {} connections, files in {}",
        site.program.display(),
        plan.seed,
        plan.kills,
        match power {
            Some(_) => "power cuts",
            None => "kills",
        },
        plan.connections,
        site.data.display()
    );
    let began = Instant::now();
    match Campaign::new(site, plan, power)?.run() {
        Ok(report) => Ok(tell(plan, site, &report, began)),
        Err(error) => {
            println!("FAILED: {error}");
            Ok(false)
        }
    }
}

/// Fills a small disk again and again; true if all is well.
fn fill_small_disk(
    site: &Site,
    folder: &Path,
    seed: u64,
    rounds: u32,
    (mib, kind): (u64, FileSystem),
) -> io::Result<bool> {
    println!(
        "audit of {} with seed {seed}: {rounds} rounds on a disk of {mib} MiB ({kind:?})",
        site.program.display()
    );
    let disk = SmallDisk::mount(&site.data, &folder.join("disk.img"), (mib, kind))?;
    let mut all = Rounds::new(site, &disk, seed);
    match all.run(rounds)? {
        Ok(()) => {
            println!(
                "{} puts, {} times the disk was full: nothing lost, and there was room again every time.",
                all.puts, all.refusals
            );
            Ok(true)
        }
        Err(text) => {
            println!("FAILED: {text}");
            Ok(false)
        }
    }
}

/// Says how it came out; true if all is well.
fn tell(plan: &Plan, site: &Site, report: &Report, began: Instant) -> bool {
    let tally = &report.tally;
    println!(
        "{} kills under load and {} while starting ({} power cuts), {} orderly ends under load, {} times frozen, {} connections cut, {} definitions changed ({} messages on them), {} permanent and {} temporary dynamic queues, in {} rounds, {:.0} s: {} puts, {} deliveries, {} messages browsed (most at a time {}); units of work: {} committed, {} in doubt, {} branches recovered, {} backed out, {} lost, {} by the queue manager (AMQ7469); {} calls without a reply; slowest start {} ms",
        tally.kills,
        tally.kills_starting,
        tally.power_cuts,
        tally.orderly,
        tally.frozen,
        tally.cuts,
        tally.definitions,
        tally.definer_puts,
        tally.permanent,
        tally.temporary,
        tally.rounds,
        began.elapsed().as_secs_f64(),
        tally.puts,
        tally.delivered,
        tally.browsed,
        tally.deepest,
        tally.commits,
        tally.in_doubt,
        tally.recovered,
        tally.backouts,
        tally.lost_units,
        campaign::message_count(&site.words, "AMQ7469W"),
        tally.unanswered,
        tally.slowest_start.as_millis()
    );
    for violation in report.violations.iter().take(20) {
        println!("{violation}");
    }
    if report.violations.len() > 20 {
        println!("... and {} more", report.violations.len() - 20);
    }
    if let Some(plant) = plan.plant {
        return judged_plant(plant, report);
    }
    if !report.violations.is_empty() {
        println!("FAILED: {} promises broken", report.violations.len());
        return false;
    }
    if tally.kills < plan.kills {
        println!(
            "FAILED: only {} of {} kills in {} s",
            tally.kills, plan.kills, plan.seconds
        );
        return false;
    }
    println!("No message lost, doubled, halved, altered or out of order.");
    true
}

fn judged_plant(plant: Plant, report: &Report) -> bool {
    let Some(planted) = &report.planted else {
        println!("FAILED: no round had a place to plant {plant:?}, or something else was wrong");
        return false;
    };
    println!("planted: {planted}");
    let expected = plant.expected();
    let found = report.violations.iter().all(|v| v.broken == expected);
    if report.violations.is_empty() || !found {
        println!("FAILED: {plant:?} has to be found as {expected:?}, and nothing else");
        return false;
    }
    println!("It was found, and nothing else.");
    true
}
