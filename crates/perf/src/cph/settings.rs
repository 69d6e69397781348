//! What the options come to.

use std::path::PathBuf;
use std::time::Duration;

use super::options::Given;
use crate::workload::{
    Carriers, Destinations, LONGEST, Module, PerfError, Syncpoint, Text, Workload,
};

/// Where a client connects to unless told.
pub(super) const HOST: &str = "localhost";
/// The port there.
pub(super) const PORT: u16 = 1414;

/// Which queue manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Over the network.
    Client {
        /// Host.
        host: String,
        /// Port.
        port: u16,
        /// Channel.
        channel: String,
    },
    /// Over the network, to the listener of the queue manager that is named: of this machine, if it is known here.
    Named {
        /// Channel.
        channel: String,
    },
    /// Over the local socket.
    Local,
    /// In this process.
    InProcess,
}

/// What the options come to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the applications do.
    pub workload: Workload,
    /// Responders that are started too.
    pub responders: u32,
    /// Which queue manager.
    pub choice: Choice,
    /// Its name.
    pub queue_manager: Option<String>,
    /// The folder of queue managers, if it is named behind the flags.
    pub data_dir: Option<PathBuf>,
    /// User.
    pub user: Option<String>,
    /// Password.
    pub password: Option<String>,
    /// Run length; none is until stopped.
    pub length: Option<Duration>,
    /// Before anything is counted.
    pub warm_up: Duration,
    /// Between rate lines; none for none.
    pub interval: Option<Duration>,
    /// Tag of each line.
    pub id: Option<String>,
    /// Whether the totals are printed.
    pub summary: bool,
    /// Whether rates of each application are printed.
    pub each: bool,
    /// Whether latency is printed.
    pub latency: bool,
    /// Seconds count until the last iteration.
    pub to_last_iteration: bool,
    /// Whether lines begin with the time.
    pub time_stamps: bool,
    /// Whether notes go to standard error.
    pub notes: bool,
    /// Whether Ctrl-C gives the summary.
    pub signals: bool,
    /// Driver processes.
    pub processes: u32,
    /// One of several.
    pub child: bool,
}

fn usage(what: &str) -> PerfError {
    PerfError::Usage(what.to_owned())
}

impl Settings {
    /// Reads flags.
    ///
    /// # Errors
    /// [`PerfError::Usage`] names what is wrong.
    pub fn read(flags: &[String]) -> Result<Settings, PerfError> {
        let given = Given::read(flags)?;
        let module = module(&given)?;
        given.check_module(module)?;
        let workload = workload(&given, module)?;
        let processes: u32 = given.number("processes", 1)?;
        if !(1..=1000).contains(&processes) {
            return Err(usage("1 to 1000 driver processes (--processes)"));
        }
        let choice = choice(&given)?;
        if choice == Choice::InProcess && processes > 1 {
            return Err(usage(
                "one process at a time can have a queue manager inside it: -jf true and --processes exclude each other",
            ));
        }
        if choice == Choice::InProcess && workload.carriers != Carriers::Threads {
            return Err(usage(
                "inside one process each application is a thread: -jf true and --multiplex exclude each other",
            ));
        }
        let length = given.seconds("rl", 60.0)?;
        let warm_up = Duration::from_secs_f64(given.seconds("warm-up", 0.0)?);
        if workload.iterations.is_some() && !warm_up.is_zero() {
            return Err(usage(
                "a number of iterations (-mg) and --warm-up exclude each other",
            ));
        }
        let interval = given.seconds("ss", 10.0)?;
        Ok(Settings {
            responders: given.number("responders", 0)?,
            queue_manager: given.text("jb").map(str::to_owned),
            data_dir: given.text("data-dir").map(PathBuf::from),
            user: given.text("us").map(str::to_owned),
            password: given.text("pw").map(str::to_owned),
            length: (length > 0.0).then(|| Duration::from_secs_f64(length)),
            warm_up,
            interval: (interval > 0.0).then(|| Duration::from_secs_f64(interval.max(0.001))),
            id: given.text("id").map(str::to_owned),
            summary: given.flag("su", true),
            each: given.flag("sp", false),
            latency: given.flag("ls", false),
            to_last_iteration: to_last_iteration(&given)?,
            time_stamps: given.number::<u32>("ts", 0)? > 0,
            notes: given.number::<u32>("vo", 4)? >= 3,
            signals: given.flag("sh", true),
            child: given.flag("child", false),
            processes,
            choice,
            workload,
        })
    }

    /// What is started: the workload, and responders behind it.
    pub fn workloads(&self) -> Vec<Workload> {
        let mut all = vec![self.workload.clone()];
        if self.responders > 0 {
            let requester = &self.workload;
            all.push(Workload {
                module: Module::Responder,
                applications: self.responders,
                iterations: None,
                rate: 0.0,
                ramp: Duration::ZERO,
                queue_depth: 1,
                copy_request: true,
                ..requester.clone()
            });
        }
        all
    }
}

fn module(given: &Given) -> Result<Module, PerfError> {
    const NAMES: &str = "Requester, Responder, Sender, Receiver, PutGet";
    const LATER: &[&str] = &[
        "Dummy",
        "Forwarder",
        "PublisherV6",
        "SubscriberV6",
        "DLQMon",
        "ReconnectTimer",
        "RequesterReconnectTimer",
    ];
    let Some(name) = given.text("tc") else {
        return Err(PerfError::Usage(format!(
            "say what to do with -tc: {NAMES}; posthaste perf --help has examples"
        )));
    };
    let later = LATER.iter().any(|later| later.eq_ignore_ascii_case(name));
    Module::from_name(name).ok_or_else(|| {
        PerfError::Usage(match later {
            true => format!("-tc {name}: this module is not in this release; there are {NAMES}"),
            false => format!("-tc {name}: there is no such module; there are {NAMES}"),
        })
    })
}

fn choice(given: &Given) -> Result<Choice, PerfError> {
    let inside = given.flag("jf", false);
    match given.text("jt").unwrap_or("mqc") {
        "mqc" if inside => Err(usage(
            "-jf true needs -jt mqb: a client is in another process",
        )),
        "mqc" if given.has("jb") && !given.has("jh") && !given.has("jp") => Ok(Choice::Named {
            channel: channel(given)?,
        }),
        "mqc" => Ok(Choice::Client {
            host: given.text("jh").unwrap_or(HOST).to_owned(),
            port: port(given)?,
            channel: channel(given)?,
        }),
        "mqb" => {
            for name in ["jh", "jp", "jc"] {
                if given.has(name) {
                    return Err(PerfError::Usage(format!(
                        "-{name} is for clients (-jt mqc), not for -jt mqb"
                    )));
                }
            }
            match inside {
                true => Ok(Choice::InProcess),
                false => Ok(Choice::Local),
            }
        }
        other => Err(PerfError::Usage(format!(
            "-jt {other}: mqc (client) or mqb (local)"
        ))),
    }
}

fn port(given: &Given) -> Result<u16, PerfError> {
    match given.number("jp", PORT)? {
        0 => Err(usage("-jp 0: a port from 1 to 65535 is needed")),
        port => Ok(port),
    }
}

fn channel(given: &Given) -> Result<String, PerfError> {
    let channel = given.text("jc").unwrap_or("SYSTEM.DEF.SVRCONN");
    match (1..=20).contains(&channel.len()) {
        true => Ok(channel.to_owned()),
        false => Err(PerfError::Usage(format!(
            "-jc {channel}: a channel's name has 1 to 20 characters"
        ))),
    }
}

fn to_last_iteration(given: &Given) -> Result<bool, PerfError> {
    match given.text("sd").unwrap_or("normal") {
        "normal" => Ok(false),
        "tlf" => Ok(true),
        other => Err(PerfError::Usage(format!("-sd {other}: normal or tlf"))),
    }
}

fn syncpoint(given: &Given) -> Result<Syncpoint, PerfError> {
    let both = given.flag("tx", false);
    let syncpoint = Syncpoint {
        put: both || given.flag("txp", false),
        get: both || given.flag("txg", false),
    };
    if given.flag("txz", false) && syncpoint != Syncpoint::NONE {
        return Err(usage(
            "-txz (outside syncpoint) and -tx, -txp, -txg exclude each other",
        ));
    }
    Ok(syncpoint)
}

fn persistence(given: &Given) -> Result<Option<bool>, PerfError> {
    match (given.flag("pp", false), given.flag("ppn", false)) {
        (true, true) => Err(usage("-pp and -ppn exclude each other")),
        (true, false) => Ok(Some(true)),
        (false, true) => Ok(Some(false)),
        (false, false) => Ok(None),
    }
}

fn text(given: &Given) -> Result<Text, PerfError> {
    match (given.text("mf"), given.flag("mr", false)) {
        (Some(_), true) => Err(usage("-mf and -mr exclude each other")),
        (Some(_), _) if given.has("ms") => Err(usage("the file (-mf) makes the length, not -ms")),
        (Some(file), _) => Ok(Text::File(PathBuf::from(file))),
        (None, true) => Ok(Text::Random),
        (None, false) => Ok(Text::Repeating),
    }
}

fn wait(given: &Given) -> Result<Option<Duration>, PerfError> {
    match given.text("to") {
        Some("-1") => Ok(None),
        _ => Ok(Some(Duration::from_secs_f64(given.seconds("to", 5.0)?))),
    }
}

fn workload(given: &Given, module: Module) -> Result<Workload, PerfError> {
    let queues = |option: &str, otherwise: &str| -> Result<Destinations, PerfError> {
        Ok(Destinations {
            prefix: given.text(option).unwrap_or(otherwise).to_owned(),
            base: given.number("db", 0)?,
            max: given.number("dx", 0)?,
            count: given.number("dn", 0)?,
        })
    };
    let iterations: u64 = given.number("mg", 0)?;
    let carriers = match given.has("multiplex") {
        true => Carriers::Multiplexed {
            threads: given.number("multiplex", 1)?,
        },
        false => Carriers::Threads,
    };
    let workload = Workload {
        module,
        applications: given.number("nt", 1)?,
        carriers,
        message_bytes: given.within("ms", 1000, LONGEST)?,
        text: text(given)?,
        persistence: persistence(given)?,
        syncpoint: syncpoint(given)?,
        batch: given.number("cc", 1)?,
        asynchronous: given.flag("async", false),
        iterations: (iterations > 0).then_some(iterations),
        rate: given.decimal("rt", 0.0, "iterations a second")?,
        ramp: Duration::from_secs_f64(given.seconds("rp", 0.0)?),
        requests: queues("iq", "REQUEST")?,
        replies: queues("oq", "REPLY")?,
        destinations: queues("d", "DEST")?,
        by_correlation_id: given.flag("co", true),
        copy_request: given.flag("cr", true),
        get_wait: wait(given)?,
        put1: given.flag("p1", false),
        format: given.text("mfm").unwrap_or("MQSTR").to_owned(),
        convert: given.flag("cv", true),
        buffer_bytes: given.within("rs", 0, LONGEST)?,
        application_name: given.text("an").unwrap_or("cph").to_owned(),
        queue_depth: given.number("dq", 1)?,
        yield_every: given.number("yd", 0)?,
        start_interval: Duration::from_millis(given.number::<u32>("wi", 0)?.into()),
        start_within: Duration::from_secs_f64(given.seconds("wt", 30.0)?),
    };
    workload.check()?;
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Settings, PerfError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Settings::read(&words)
    }

    #[test]
    fn defaults_are_those_of_mq_cph() {
        let settings = read("-tc Requester").unwrap();
        let workload = &settings.workload;
        assert_eq!(workload.applications, 1);
        assert_eq!(workload.message_bytes, 1000);
        assert_eq!(workload.requests.name(0), "REQUEST");
        assert_eq!(workload.replies.name(5), "REPLY");
        assert_eq!(workload.get_wait, Some(Duration::from_secs(5)));
        assert!(workload.by_correlation_id && workload.convert && !workload.put1);
        assert_eq!(workload.persistence, None);
        assert_eq!(workload.syncpoint, Syncpoint::NONE);
        assert_eq!(settings.length, Some(Duration::from_secs(60)));
        assert_eq!(settings.interval, Some(Duration::from_secs(10)));
        assert!(settings.summary && settings.signals && !settings.latency);
        let client = Choice::Client {
            host: "localhost".to_owned(),
            port: 1414,
            channel: "SYSTEM.DEF.SVRCONN".to_owned(),
        };
        assert_eq!(settings.choice, client);
    }

    #[test]
    fn what_is_given_is_taken() {
        let settings = read(
            "-tc requester -nt 3 -db 1 -dn 2 -ms 20480 -pp -tx -to -1 -rl 0 -ss 0 -jt mqb \
             -jb QM1 -id 7 --responders 2 -dq 4 -rt 1.5 -sd tlf",
        )
        .unwrap();
        let all = settings.workloads();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].module, Module::Requester);
        assert_eq!((all[1].module, all[1].applications), (Module::Responder, 2));
        assert_eq!((all[1].queue_depth, all[1].rate), (1, 0.0));
        let requests = [0, 1, 2].map(|index| all[0].requests.name(index));
        assert_eq!(requests, ["REQUEST1", "REQUEST2", "REQUEST1"]);
        assert_eq!(all[0].persistence, Some(true));
        assert_eq!(all[0].syncpoint, Syncpoint::BOTH);
        assert_eq!(
            (all[0].get_wait, settings.length, settings.interval),
            (None, None, None)
        );
        assert_eq!(settings.choice, Choice::Local);
        assert_eq!(settings.id.as_deref(), Some("7"));
        assert!(settings.to_last_iteration);
        for workload in all {
            workload.check().unwrap();
        }
    }

    #[test]
    fn impossible_combinations_are_named() {
        for (line, expected) in [
            ("", "-tc"),
            ("-tc Dummy", "not in this release"),
            ("-tc Nothing", "no such module"),
            ("-tc Publisher", "publish/subscribe"),
            ("-tc Sender -nt 0", "-nt 0"),
            ("-tc Sender -ms -5", "-ms -5"),
            ("-tc Sender -ms 104857601", "104857600"),
            ("-tc Sender -pp -ppn", "-pp and -ppn"),
            ("-tc Sender -tx -txz", "-txz"),
            ("-tc Sender -cc 0", "-cc 0"),
            ("-tc Sender -cc 5", "-tx"),
            ("-tc Requester -tx -cc 5", "-cc"),
            ("-tc Sender -jf", "-jt mqb"),
            ("-tc Sender -jt mqx", "-jt mqx"),
            ("-tc Sender -jt mqb -jh far", "-jh"),
            ("-tc Sender -jt mqb -jf --processes 2", "--processes"),
            ("-tc Sender -jt mqb -jf --multiplex 1", "--multiplex"),
            ("-tc Sender --multiplex 0", "1 to 1000 threads"),
            ("-tc Sender --multiplex 1000000", "1 to 1000 threads"),
            ("-tc Sender --multiplex -1", "--multiplex -1: a whole"),
            ("-tc Sender -jp 65536", "from 0 to 65535"),
            ("-tc Sender -cc 1.5", "a whole number from 0 to 4294967295"),
            ("-tc Sender -cc 4294967296", "from 0 to 4294967295"),
            ("-tc Sender -ms 99999999999999999999", "from 0 to 104857600"),
            (
                "-tc Sender -rt 1e10",
                "iterations a second from 0 to 1000000000",
            ),
            ("-tc Sender -rt -1", "iterations a second from 0"),
            ("-tc Sender -wt -1", "-wt -1: seconds from 0"),
            ("-tc Sender --processes 0", "--processes"),
            ("-tc Sender -mg 5 --warm-up 2", "--warm-up"),
            ("-tc Sender -db 5 -dx 2", "-dx 2"),
            ("-tc Sender -mf a -mr", "-mf and -mr"),
            ("-tc Sender -mf a -ms 5", "-mf"),
            ("-tc Sender -sd never", "-sd never"),
            ("-tc Sender -jp 0", "-jp 0"),
            ("-tc Sender -jp 70000", "-jp 70000"),
            ("-tc Sender -jc A.CHANNEL.NAME.TOO.LONG", "-jc"),
            ("-tc Receiver --async", "-async is for Sender"),
            ("-tc Receiver -co", "-co is for"),
            ("-tc Sender -to -2", "-to"),
            ("-tc Sender -rt -1", "-rt"),
            ("-tc Sender -rt nan", "-rt"),
            ("-tc Sender -rp 5", "-rp"),
            ("-tc Responder --responders 2", "--responders"),
        ] {
            let error = read(line).unwrap_err();
            assert!(matches!(error, PerfError::Usage(_)), "{line}: {error:?}");
            let error = error.to_string();
            let dashes = expected.trim_start_matches('-');
            assert!(error.contains(dashes), "{line}: {error}");
        }
    }
}
