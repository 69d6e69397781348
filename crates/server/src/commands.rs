//! MQSC commands carried out: what concerns running channels and listeners here, everything else by
//! the engine.

use std::sync::Arc;

use posthaste_channel::{InstanceState, InstanceStatus, Registry};
use posthaste_command::{
    Command, DisplayType, DisplayWhat, ObjectKind, Reply, Row, Where, generic_matches,
    status_keywords, where_matches,
};
use posthaste_engine::{Beside, PartState, QueueManager};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQSVC_CONTROL_MANUAL, MQSVC_CONTROL_Q_MGR};
use posthaste_net::Admission;
use tokio::sync::watch;

use crate::listeners::{ListenerError, Listeners, Plan, Running};
use crate::moment;

/// Carries out commands on a running queue manager.
pub(crate) struct Commands {
    /// The queue manager.
    pub qm: QueueManager,
    /// Channels of clients elsewhere.
    pub channels: Arc<Registry>,
    /// Connections of applications on this machine.
    pub local: Arc<Registry>,
    /// Places of clients over the network, and of local applications.
    pub places: [Admission; 2],
    /// Listeners.
    pub listeners: Arc<Listeners>,
    /// How the command server is; it says so itself.
    pub command_server: watch::Sender<PartState>,
}

impl Commands {
    /// Everything that is counted, names and sums; connections of both kinds together.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let both = self.channels.counters().zip(self.local.counters());
        let connections = both.map(|((name, network), (_, local))| (name, network + local));
        let [network, local] = self.places.each_ref().map(Admission::traffic);
        let traffic = [
            ("channel.reads", network.reads + local.reads),
            ("channel.bytes_read", network.received + local.received),
            ("channel.bytes_written", network.sent + local.sent),
        ];
        let engine = self.qm.counters().into_iter();
        engine.chain(connections).chain(traffic).collect()
    }

    /// Ready when the command server has ended, which it does when the queue manager quiesces and everything that was
    /// asked of it is done.
    pub(crate) async fn command_server_ended(&self) {
        let mut states = self.command_server.subscribe();
        // The sender is in `self`: it cannot have gone.
        let _ = states.wait_for(|state| *state == PartState::Stopped).await;
    }

    /// Carries out one command in MQSC text.
    pub(crate) async fn run(&self, text: &str) -> Reply {
        match posthaste_command::parse(text) {
            Ok(Some(command)) => self.execute(&command).await,
            Ok(None) => Reply::default(),
            Err(error) => Reply::from(&error),
        }
    }

    /// Carries out one command.
    pub(crate) async fn execute(&self, command: &Command) -> Reply {
        match command {
            Command::Start {
                kind: ObjectKind::Listener,
                name,
            } => self.start_listener(name).await,
            Command::Stop {
                kind: ObjectKind::Listener,
                name,
                ..
            } => self.stop_listener(name).await,
            Command::Delete {
                kind: ObjectKind::Listener,
                name,
                ..
            } if self.listeners.is_active(name) => {
                Reply::failed("AMQ8730E", &named(name), Reason::CCF_LISTENER_STILL_ACTIVE)
            }
            Command::Start {
                kind: ObjectKind::SvrConn,
                name,
            } => match self.channels.start(name) {
                Ok(()) => Reply::done("AMQ8018I", &named(name)),
                Err(_) => unknown_channel(name),
            },
            Command::Stop {
                kind: ObjectKind::SvrConn,
                name,
                force,
            } => match self.channels.stop(name, *force) {
                Ok(_) => Reply::done("AMQ8019I", &named(name)),
                Err(_) => unknown_channel(name),
            },
            Command::Display {
                what: what @ (DisplayWhat::ChStatus | DisplayWhat::LsStatus),
                name,
                show,
                all,
                filter,
                ..
            } => {
                let wanted = Wanted {
                    name,
                    show,
                    all: *all,
                    filter: filter.as_ref(),
                };
                match what {
                    DisplayWhat::ChStatus => self.channel_status(&wanted),
                    _ => self.listener_status(&wanted),
                }
            }
            other => self.qm.execute_beside(other, &self.beside()).await,
        }
    }

    /// The parts that run beside the engine.
    fn beside(&self) -> Beside {
        let channel_initiator = match self.channels.is_ending() {
            true => PartState::Stopping,
            false => PartState::Running,
        };
        Beside {
            command_server: *self.command_server.borrow(),
            channel_initiator,
        }
    }

    async fn start_listener(&self, name: &str) -> Reply {
        let Some(object) = self.qm.object(ObjectKind::Listener, name) else {
            return Reply::failed("AMQ8147E", &named(name), Reason::UNKNOWN_OBJECT_NAME);
        };
        let started = match self.listeners.is_running(name) {
            true => Err(ListenerError::Active),
            false => self.listeners.start(Plan::of(&object)).await,
        };
        match started {
            Ok(_) => Reply::done("AMQ8021I", &named(name)),
            Err(error) => {
                let failure = error.failure(name);
                let reason = match error {
                    ListenerError::Bind { .. } => Reason::CCF_LISTENER_NOT_STARTED,
                    ListenerError::Ending(_) => Reason::Q_MGR_STOPPING,
                    _ => Reason::CCF_LISTENER_RUNNING,
                };
                Reply::failed(failure.id, &failure.inserts, reason)
            }
        }
    }

    async fn stop_listener(&self, name: &str) -> Reply {
        match self.listeners.stop(name).await {
            Ok(()) => Reply::done("AMQ8706I", &named(name)),
            Err(_) if self.qm.object(ObjectKind::Listener, name).is_none() => {
                Reply::failed("AMQ8147E", &named(name), Reason::UNKNOWN_OBJECT_NAME)
            }
            Err(_) => Reply::failed("AMQ8731E", &named(name), Reason::CCF_LISTENER_STOPPED),
        }
    }

    fn channel_status(&self, wanted: &Wanted<'_>) -> Reply {
        let mut reply = Reply::default();
        // Applications of this machine have no channel; DISPLAY CONN shows them.
        let instances = self.channels.status().into_iter();
        for instance in instances.filter(|i| generic_matches(wanted.name, &i.channel)) {
            wanted.add(&mut reply, "AMQ8417I", channel_row(&instance));
        }
        let running = self.channels.status();
        for name in self.channels.stopped() {
            let idle = running.iter().all(|instance| instance.channel != name);
            if idle && generic_matches(wanted.name, &name) {
                wanted.add(&mut reply, "AMQ8417I", stopped_row(&name));
            }
        }
        wanted.found(reply, "AMQ8420I", Reason::CCF_CHL_STATUS_NOT_FOUND)
    }

    fn listener_status(&self, wanted: &Wanted<'_>) -> Reply {
        let mut reply = Reply::default();
        let matches = |plan: &Plan| generic_matches(wanted.name, &plan.name);
        for listener in self.listeners.running() {
            if matches(&listener.plan) {
                wanted.add(&mut reply, "AMQ8631I", running_row(&listener));
            }
        }
        for listener in self.listeners.waiting() {
            if matches(&listener.plan) {
                wanted.add(&mut reply, "AMQ8631I", waiting_row(&listener.plan));
            }
        }
        let defined = self.qm.object(ObjectKind::Listener, wanted.name).is_some();
        match defined {
            true => wanted.found(reply, "AMQ8731E", Reason::CCF_LISTENER_STOPPED),
            false => wanted.found(reply, "AMQ8147E", Reason::UNKNOWN_OBJECT_NAME),
        }
    }
}

fn named(name: &str) -> [String; 1] {
    [name.to_owned()]
}

fn unknown_channel(name: &str) -> Reply {
    Reply::failed("AMQ8227E", &named(name), Reason::CCF_CHANNEL_NOT_FOUND)
}

/// What a DISPLAY command asks for.
struct Wanted<'a> {
    name: &'a str,
    show: &'a [String],
    all: bool,
    filter: Option<&'a Where>,
}

/// A row: cells that are always shown, cells shown when nothing is asked for, and the rest.
struct Cells {
    row: Row,
    /// Shown whatever was asked for.
    always: usize,
    /// Shown when nothing was asked for.
    usual: usize,
}

impl Wanted<'_> {
    fn add(&self, reply: &mut Reply, id: &'static str, cells: Cells) {
        let Cells { row, always, usual } = cells;
        if self
            .filter
            .is_some_and(|filter| !where_matches(filter, &row))
        {
            return;
        }
        let asked = |keyword: &String| {
            self.show.contains(keyword)
                || self.filter.is_some_and(|filter| filter.keyword == *keyword)
        };
        let kept = row.0.into_iter().enumerate().filter(|(at, (keyword, _))| {
            self.all || *at < always || (self.show.is_empty() && *at < usual) || asked(keyword)
        });
        reply.add_row(id, Row(kept.map(|(_, cell)| cell).collect()));
    }

    fn found(&self, reply: Reply, id: &'static str, reason: Reason) -> Reply {
        match reply.rows.is_empty() {
            true => Reply::failed(id, &named(self.name), reason),
            false => reply,
        }
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn channel_row(instance: &InstanceStatus) -> Cells {
    let mut row = Row::default();
    row.push("CHANNEL", instance.channel.as_str());
    row.push("CHLTYPE", "SVRCONN");
    row.push_text("CONNAME", &instance.conname);
    row.push("CURRENT", "");
    row.push(
        "STATUS",
        match instance.state {
            InstanceState::Binding => "BINDING",
            InstanceState::Running => "RUNNING",
            InstanceState::Stopping => "STOPPING",
        },
    );
    let always = row.0.len();
    row.push("SUBSTATE", "RECEIVE");
    let usual = row.0.len();
    row.push_int("BUFSRCVD", count(instance.buffers_received));
    row.push_int("BUFSSENT", count(instance.buffers_sent));
    row.push_int("BYTSRCVD", count(instance.bytes_received));
    row.push_int("BYTSSENT", count(instance.bytes_sent));
    let (date, time) = moment::date_and_time(instance.started);
    row.push("CHSTADA", date);
    row.push("CHSTATI", time);
    // Nothing is compressed, and there are no exits.
    row.push("COMPHDR", "NONE,NONE");
    row.push("COMPMSG", "NONE,NONE");
    row.push("COMPRATE", "0,0");
    row.push("COMPTIME", "0,0");
    row.push_int("CURSHCNV", instance.conversations);
    row.push("EXITTIME", "0,0");
    row.push_int("HBINT", instance.heartbeat_s);
    row.push_int("JOBNAME", count(instance.id));
    let (date, time) = match instance.last_call {
        0 => Default::default(),
        last => moment::date_and_time(last),
    };
    row.push_text("LSTMSGDA", &date);
    row.push_text("LSTMSGTI", &time);
    row.push_int("MAXMSGL", instance.max_message);
    row.push_int("MAXSHCNV", instance.max_conversations);
    row.push_text("MCAUSER", &instance.user);
    row.push("MCASTAT", "RUNNING");
    row.push("MONCHL", "OFF");
    row.push_int("MSGS", count(instance.calls));
    row.push_text("RAPPLTAG", &instance.application);
    // Four letters of a product code, then its version, VVRRMMFF.
    let product: String = instance.product.chars().take(4).collect();
    let version: String = instance.product.chars().skip(4).collect();
    row.push_text("RPRODUCT", &product);
    row.push_text("RVERSION", &version);
    row.push("SECPROT", "NONE");
    for keyword in [
        "SSLCERTI", "SSLCERTU", "SSLCIPH", "SSLKEYDA", "SSLKEYTI", "SSLPEER",
    ] {
        row.push_text(keyword, "");
    }
    row.push_int("SSLRKEYS", 0);
    row.push("STOPREQ", "NO");
    Cells { row, always, usual }
}

fn running_row(listener: &Running) -> Cells {
    let (date, time) = moment::date_and_time(listener.started);
    let (host, port) = (listener.address.ip().to_string(), listener.address.port());
    listener_row(&listener.plan, "RUNNING", [&date, &time], &host, port)
}

/// A listener that waits for its address.
fn waiting_row(plan: &Plan) -> Cells {
    listener_row(plan, "STARTING", ["", ""], &plan.host, plan.port)
}

/// A channel that STOP CHANNEL has stopped and that has no instance left: every keyword, blank where it
/// is about an instance.
fn stopped_row(channel: &str) -> Cells {
    let mut row = Row::default();
    for keyword in status_keywords(DisplayWhat::ChStatus, DisplayType::All) {
        match keyword {
            "CHANNEL" => row.push(keyword, channel),
            "CHLTYPE" => row.push(keyword, "SVRCONN"),
            "CURRENT" => row.push(keyword, ""),
            "STATUS" | "MCASTAT" => row.push(keyword, "STOPPED"),
            "STOPREQ" => row.push(keyword, "YES"),
            _ => row.push_text(keyword, ""),
        }
    }
    let headings = row.0.iter().position(|(keyword, _)| keyword == "STATUS");
    let always = headings.map_or(0, |at| at + 1);
    Cells {
        row,
        always,
        usual: always,
    }
}

fn listener_row(plan: &Plan, status: &str, started: [&str; 2], host: &str, port: u16) -> Cells {
    let mut row = Row::default();
    row.push("LISTENER", plan.name.as_str());
    row.push("STATUS", status);
    row.push_int("PID", std::process::id());
    let always = row.0.len();
    let [date, time] = started;
    row.push("STARTDA", date);
    row.push("STARTTI", time);
    row.push_text("DESCR", &plan.description);
    row.push("TRPTYPE", "TCP");
    row.push(
        "CONTROL",
        match plan.control {
            MQSVC_CONTROL_MANUAL => "MANUAL",
            MQSVC_CONTROL_Q_MGR => "QMGR",
            _ => "STARTONLY",
        },
    );
    row.push("IPADDR", host);
    row.push_int("PORT", port);
    row.push_int("BACKLOG", plan.backlog);
    let usual = row.0.len();
    Cells { row, always, usual }
}
