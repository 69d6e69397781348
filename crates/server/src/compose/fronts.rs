//! What runs beside the engine: channels, listeners, the command server; and how administration sees it.

use std::sync::{Arc, Weak};

use posthaste_admin::{
    Admin, Answer, ChannelState, ChannelStatus, ChannelTls, CommandServer, ComponentError,
    ComponentState, Components, Decision, EventInbox, EventWriter, ListenerStatus, ServiceStatus,
};
use posthaste_admin::{ComponentCounts, LaneStatus};
use posthaste_channel::{ConnAuth, InstanceState, InstanceStatus, Registry, Security, StopError};
use posthaste_command::{Object, Reply, StopChannel};
use posthaste_engine::{Application, Operator, QueueManager};
use posthaste_env::{Clock, block_on};
use posthaste_net::{Admission, Lanes};
use tokio::sync::watch;

use crate::compose::listeners::{ListenerError, Listeners, Plan, Running, Waiting};
use crate::compose::services::Services;
use crate::control::{Administration, Asked, Decided};
use crate::error_log::{host, user_name};

/// The fronts of a running queue manager.
pub(crate) struct Fronts {
    /// The queue manager.
    pub qm: QueueManager,
    /// Channels of clients elsewhere.
    pub channels: Arc<Registry>,
    /// Connections of applications on this machine.
    pub local: Arc<Registry>,
    /// Places of clients over the network, and of local applications.
    pub places: [Admission; 2],
    /// The threads that serve them.
    pub lanes: Lanes,
    /// Key repository and handshakes of clients that use TLS.
    pub security: Arc<Security>,
    /// Who is asked for a password, and the threads that look at it.
    pub connauth: Arc<ConnAuth>,
    /// Listeners.
    pub listeners: Arc<Listeners>,
    /// Services.
    pub services: Arc<Services>,
    /// How the command server is; it says so itself.
    pub command_server: watch::Sender<ComponentState>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl Fronts {
    /// The door through which the queue manager is administered.
    pub(crate) fn admin(self: &Arc<Self>) -> Admin {
        let beside: Arc<dyn Components> = self.clone();
        Admin::new(self.qm.clone(), beside)
    }

    /// Starts the command server, and before it who puts event messages of what commands do. Must be called inside a runtime.
    pub(crate) fn start_administration(
        self: &Arc<Self>,
        operator: &Arc<dyn Operator>,
        events: &Arc<EventInbox>,
        clock: &Arc<dyn Clock>,
    ) {
        self.start_event_writer(operator, events);
        self.start_command_server(operator, clock);
    }

    /// Runs the command server until the queue manager ends, on a thread of its own: a command on thousands of
    /// objects keeps no connection's worker busy. Must be called inside a runtime.
    fn start_command_server(
        self: &Arc<Self>,
        operator: &Arc<dyn Operator>,
        clock: &Arc<dyn Clock>,
    ) {
        let server = CommandServer {
            admin: self.admin(),
            operator: Arc::clone(operator),
            clock: Arc::clone(clock),
            user: user_name(),
        };
        // Before there is the thread: an end that comes now has to wait for it.
        self.command_server.send_replace(ComponentState::Starting);
        let session = server.connect();
        let fronts = Arc::clone(self);
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            runtime.block_on(server.serve(session, |state| {
                fronts.command_server.send_replace(state);
            }));
        });
    }

    /// Puts event messages until the queue manager has ended, on a thread of its own. Must be called inside a runtime, before
    /// commands are taken.
    fn start_event_writer(&self, operator: &Arc<dyn Operator>, inbox: &Arc<EventInbox>) {
        let (inbox, operator) = (Arc::clone(inbox), Arc::clone(operator));
        let writer = EventWriter::new(self.qm.clone(), inbox, operator, user_name());
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(writer.serve()));
    }

    /// Ready when the command server has ended, which it does when the queue manager quiesces and everything that was
    /// asked of it is done.
    pub(crate) async fn command_server_ended(&self) {
        let mut states = self.command_server.subscribe();
        // The sender is in `self`: it cannot have gone.
        let _ = states
            .wait_for(|state| *state == ComponentState::Stopped)
            .await;
    }
}

/// What the control socket reaches. It keeps nothing that has ended.
pub(crate) struct OverControlSocket(pub(crate) Weak<Fronts>);

impl Administration for OverControlSocket {
    fn answer(&self, asked: Asked) -> String {
        let fronts = self.0.upgrade();
        fronts.map_or_else(String::new, |fronts| asked.answer(&fronts.admin()))
    }

    fn decide(&self, who: Application, number: u64, decision: Decision) -> Option<Decided> {
        let admin = self.0.upgrade()?.admin();
        let runtime = tokio::runtime::Handle::current();
        Some(runtime.block_on(admin.decide_as(who, number, decision)))
    }

    fn command(&self, who: Application, text: &str) -> Option<Reply> {
        let admin = self.0.upgrade()?.admin();
        let runtime = tokio::runtime::Handle::current();
        Some(runtime.block_on(admin.run_as(who, text)))
    }
}

impl Components for Fronts {
    fn command_server(&self) -> ComponentState {
        *self.command_server.borrow()
    }

    fn channel_initiator(&self) -> ComponentState {
        match self.channels.is_ending() {
            true => ComponentState::Stopping,
            false => ComponentState::Running,
        }
    }

    /// Of connections of both kinds together.
    fn counts(&self) -> ComponentCounts {
        let [network, local] = [&self.channels, &self.local].map(|registry| registry.counted());
        let [far, near] = self.places.each_ref().map(Admission::traffic);
        ComponentCounts {
            wakes: network.wakes + local.wakes,
            requests: network.requests + local.requests,
            writes: network.writes + local.writes,
            reads: far.reads + near.reads,
            bytes_received: far.received + near.received,
            bytes_sent: far.sent + near.sent,
        }
    }

    fn lanes(&self) -> Vec<LaneStatus> {
        let lanes = self.lanes.counts().into_iter().enumerate();
        lanes
            .map(|(number, (counts, connections))| LaneStatus {
                number,
                connections: connections as u64,
                turns: counts.turns,
                wakes: counts.wakes,
                runs: counts.runs,
                bytes_read: counts.bytes_read,
                bytes_written: counts.bytes_written,
            })
            .collect()
    }

    /// Applications of this machine have no channel.
    fn channels(&self) -> Vec<ChannelStatus> {
        self.channels.status().into_iter().map(of_channel).collect()
    }

    fn stopped_channels(&self) -> Vec<String> {
        self.channels.stopped().into_iter().collect()
    }

    fn start_channel(&self, name: &str) -> Result<(), ComponentError> {
        let started = self.channels.start(name);
        started.map_err(|_| ComponentError::UnknownChannel)
    }

    fn stop_channel(&self, name: &str, how: &StopChannel) -> Result<(), ComponentError> {
        let stopped = self.channels.stop_as(name, how);
        stopped.map(drop).map_err(|error| match error {
            StopError::NotFound => ComponentError::UnknownChannel,
            StopError::NotActive => ComponentError::ChannelNotActive,
        })
    }

    fn is_channel_in_use(&self, name: &str) -> bool {
        self.channels.is_in_use(name)
    }

    fn channel_deleted(&self, name: &str) {
        self.channels.deleted(name);
    }

    fn listeners(&self) -> Vec<ListenerStatus> {
        let running = self.listeners.running().into_iter().map(of_running);
        let waiting = self.listeners.waiting().into_iter().map(of_waiting);
        running.chain(waiting).collect()
    }

    fn start_listener<'a>(&'a self, listener: &'a Object) -> Answer<'a> {
        Box::pin(async {
            if self.listeners.is_running(&listener.name) {
                return Err(ComponentError::ListenerActive);
            }
            let started = self.listeners.start(Plan::of(listener)).await;
            started
                .map(drop)
                .map_err(|error| error.as_component_error())
        })
    }

    fn refresh_tls(&self) -> Result<(), String> {
        self.security.refresh()?;
        // What was read may be at its end already, and nobody would know why he is refused.
        let now = self.clock.wall_micros() / 1_000_000;
        self.security.look_after_certificates(now);
        Ok(())
    }

    fn owner(&self) -> String {
        user_name()
    }

    fn host_name(&self) -> String {
        host()
    }

    fn is_administrator(&self, user: &str) -> bool {
        // Whoever cannot be asked about is taken for one.
        block_on(self.qm.administers(user)).unwrap_or(true)
    }

    fn refresh_connauth(&self) -> Result<(), String> {
        self.connauth.refresh()
    }

    fn services(&self) -> Vec<ServiceStatus> {
        self.services.running()
    }

    fn start_service(&self, service: &Object) -> Result<(), ComponentError> {
        match self.qm.status().quiescing {
            true => Err(ComponentError::Ending),
            false => self.services.start(service),
        }
    }

    fn stop_service(&self, service: &Object) -> Result<(), ComponentError> {
        self.services.stop(service)
    }

    fn newly_exposed(&self) -> Vec<[String; 5]> {
        self.listeners.newly_exposed()
    }

    fn stop_listener<'a>(&'a self, name: &'a str) -> Answer<'a> {
        Box::pin(async {
            let stopped = self.listeners.stop(name).await;
            stopped.map_err(|error: ListenerError| error.as_component_error())
        })
    }
}

fn of_channel(instance: InstanceStatus) -> ChannelStatus {
    ChannelStatus {
        id: instance.id,
        channel: instance.channel,
        conname: instance.conname,
        state: match instance.state {
            InstanceState::Binding => ChannelState::Binding,
            InstanceState::Running => ChannelState::Running,
            InstanceState::Stopping => ChannelState::Stopping,
        },
        started: instance.started,
        bytes_received: instance.bytes_received,
        bytes_sent: instance.bytes_sent,
        buffers_received: instance.buffers_received,
        buffers_sent: instance.buffers_sent,
        calls: instance.calls,
        last_call: Some(instance.last_call).filter(|moment| *moment != 0),
        conversations: instance.conversations,
        max_conversations: instance.max_conversations,
        heartbeat_s: instance.heartbeat_s,
        max_message: instance.max_message,
        product: instance.product,
        tls: instance.tls.map(of_tls),
        application: instance.application,
        user: instance.user,
    }
}

fn of_tls(agreed: posthaste_tls::Agreed) -> ChannelTls {
    let (peer, issuer) = match &agreed.partner {
        Some(partner) => (partner.subject.to_string(), partner.issuer.parts_shown()),
        None => Default::default(),
    };
    ChannelTls {
        newest: agreed.spec.version == posthaste_tls::Version::Tls13,
        cipher_spec: agreed.spec.name.to_owned(),
        peer,
        issuer,
    }
}

fn of_running(listener: Running) -> ListenerStatus {
    ListenerStatus {
        started: Some(listener.started),
        host: listener.address.ip().to_string(),
        port: listener.address.port(),
        ..of_plan(listener.plan)
    }
}

fn of_waiting(listener: Waiting) -> ListenerStatus {
    of_plan(listener.plan)
}

fn of_plan(plan: Plan) -> ListenerStatus {
    ListenerStatus {
        name: plan.name,
        started: None,
        host: plan.host,
        port: plan.port,
        backlog: plan.backlog,
        control: plan.control,
        description: plan.description,
    }
}
