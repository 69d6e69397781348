//! The one binary: every command under our name and under MQ's.
//!
//! Called by an MQ name (a link), it behaves as that command; otherwise the first word is a
//! subcommand, for which MQ's names serve as well. Invariants: results go to standard output,
//! everything else to standard error; the exit code is one of the table in the server crate.

mod authority;
mod browse;
mod certs;
mod cli;
mod connect;
mod control;
mod daemon;
mod doctor;
mod dump;
mod encryption;
mod get;
mod help;
mod inf;
mod input;
mod metrics;
mod mqsc;
mod names;
mod output;
mod password;
mod publish;
mod put;
mod queue;
mod run;
mod samples;
mod save;
mod subscribe;
mod too_long;
mod topic;
mod topic_samples;
mod transactions;
mod typed;
mod users;
mod version;

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use posthaste_server::{Exit, Failure};

use crate::cli::{Cli, Command};

/// A message is made on one thread and freed on another, and queues grow and shrink by millions of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The message about a command line that is not right; the parser has its text and what to do.
const WRONG_USAGE: &str = "AMQ2402E";

fn main() -> ExitCode {
    posthaste_server::make_new_files_private();
    // Before the first file is written.
    posthaste_server::outlive_the_file_limit();
    let arguments = names::arguments(std::env::args_os());
    let mut known = help::lay_out(Cli::command());
    let parsed = known
        .try_get_matches_from_mut(&arguments)
        .and_then(|found| Cli::from_arg_matches(&found).map_err(|error| error.format(&mut known)));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &arguments),
    };
    let done = match cli.command {
        Command::Run(_) | Command::Serve(_) if posthaste_server::is_first_process() => {
            posthaste_server::stand_by()
        }
        _ => dispatch(cli).map(|exit| ExitCode::from(exit.code())),
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure.to_string());
        ExitCode::from(failure.exit.code())
    })
}

/// Help goes out with 0; a wrong command line with the code that the command has for it.
fn usage(error: &clap::Error, arguments: &[std::ffi::OsString]) -> ExitCode {
    if !error.use_stderr() {
        // Nobody is left to tell when even this cannot be printed.
        let _ = error.print();
        return ExitCode::from(Exit::Done.code());
    }
    let text = error.render().to_string();
    let text = text.trim_end();
    let absent = names::absent(arguments);
    output::complain(&match (error.kind(), absent) {
        (_, Some(absent)) => format!("{WRONG_USAGE}: {absent}"),
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, None) => {
            format!("{text}\n\n{WRONG_USAGE}: nothing says what is to be done.")
        }
        (_, None) => format!(
            "{WRONG_USAGE}: {}",
            text.strip_prefix("error: ").unwrap_or(text)
        ),
    });
    ExitCode::from(names::wrong_usage(arguments).code())
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    let place = cli.data_dir.as_deref();
    match cli.command {
        Command::Run(args) => run::run(place, &args),
        Command::Serve(args) => daemon::serve(place, &args),
        Command::Create(args) => control::create(place, &args),
        Command::Start(args) => daemon::start(place, &args),
        Command::Stop(args) => control::stop(place, &args),
        Command::Delete(args) => control::delete(place, &args),
        Command::List(args) => control::list(place, &args),
        Command::Check(args) => control::check(place, &args),
        Command::AddInf(args) => inf::add(place, &args),
        Command::RemoveInf(args) => inf::remove(place, &args),
        Command::DisplayInf(args) => inf::display(place, &args),
        Command::Version(args) => version::show(place, &args),
        Command::Transactions(args) => transactions::display(place, &args),
        Command::Resolve(args) => transactions::resolve(place, &args),
        Command::SetAuthority(args) => authority::set(place, &args),
        Command::DisplayAuthority(args) => authority::display(place, &args),
        Command::DumpAuthority(args) => authority::dump(place, &args),
        Command::Users(args) => users::users(place, &args),
        Command::Certs(args) => certs::certs(&args),
        Command::Encryption(args) => encryption::encryption(place, &args),
        Command::Metrics(args) => metrics::show(place, &args),
        Command::Doctor(args) => doctor::doctor(place, &args),
        Command::DiskTest(args) => posthaste_perf::disk_test::run(&args),
        Command::Perf(args) => laboratory(place, &args),
        Command::DelayProxy(args) => posthaste_perf::delay_proxy::run(&args),
        Command::Mqsc(args) => mqsc::mqsc(place, &args),
        Command::Save(args) => save::save(place, &args),
        Command::Put(args) => put::put(place, &args),
        Command::Get(args) => get::get(place, &args),
        Command::Publish(args) => publish::publish(place, &args),
        Command::Subscribe(args) => subscribe::subscribe(place, &args),
        Command::Browse(args) => browse::browse(place, &args),
        Command::Amqsput(args) => samples::amqsput(place, &args, samples::Way::Local),
        Command::Amqspub(args) => topic_samples::amqspub(place, &args, samples::Way::Local),
        Command::Amqspubc(args) => topic_samples::amqspub(place, &args, samples::Way::Client),
        Command::Amqssub(args) => topic_samples::amqssub(place, &args, samples::Way::Local),
        Command::Amqssubc(args) => topic_samples::amqssub(place, &args, samples::Way::Client),
        Command::Amqsputc(args) => samples::amqsput(place, &args, samples::Way::Client),
        Command::Amqsget(args) => samples::amqsget(place, &args, samples::Way::Local),
        Command::Amqsgetc(args) => samples::amqsget(place, &args, samples::Way::Client),
        Command::Amqsbcg(args) => samples::amqsbcg(place, &args, samples::Way::Local),
        Command::Amqsbcgc(args) => samples::amqsbcg(place, &args, samples::Way::Client),
        Command::Amqsgbr(args) => samples::amqsgbr(place, &args, samples::Way::Local),
        Command::Amqsgbrc(args) => samples::amqsgbr(place, &args, samples::Way::Client),
    }
}

fn laboratory(place: Option<&Path>, args: &cli::Perf) -> Result<Exit, Failure> {
    let Some(command) = &args.command else {
        return posthaste_perf::cph::run(place, &args.flags);
    };
    let (exit, text) = posthaste_perf::scenario::perform(command)?;
    let mut out = output::Out::new();
    out.bytes(text.as_bytes())?;
    out.flush().map(|()| exit)
}
