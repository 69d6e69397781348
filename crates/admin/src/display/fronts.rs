//! State of what runs beside the engine, channels and listeners, as rows.

use posthaste_command::{
    DisplayType, DisplayWhat, ObjectKind, Reply, Row, generic_matches, status_keywords,
};
use posthaste_engine::{QueueManager, display_stamp};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::{Cells, Request};
use crate::beside::{
    ChannelState, ChannelStatus, ChannelTls, Components, ListenerStatus, ServiceStatus,
};

pub(super) fn channels(beside: &dyn Components, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let instances = beside.channels();
    for instance in &instances {
        if generic_matches(request.name, &instance.channel) {
            request.add(&mut reply, "AMQ8417I", channel_row(instance));
        }
    }
    for name in beside.stopped_channels() {
        let idle = instances.iter().all(|instance| instance.channel != name);
        if idle && generic_matches(request.name, &name) {
            request.add(&mut reply, "AMQ8417I", stopped_row(&name));
        }
    }
    request.any(reply)
}

pub(super) fn listeners(
    qm: &QueueManager,
    beside: &dyn Components,
    request: &Request<'_>,
) -> Reply {
    let mut reply = Reply::default();
    for listener in beside.listeners() {
        if generic_matches(request.name, &listener.name) {
            request.add(&mut reply, "AMQ8631I", listener_row(&listener));
        }
    }
    let (id, reason) = match qm.object(ObjectKind::Listener, request.name) {
        Some(_) => ("AMQ8731E", Reason::CCF_LSTR_STATUS_NOT_FOUND),
        None => ("AMQ8147E", Reason::UNKNOWN_OBJECT_NAME),
    };
    request.found(reply, id, reason)
}

pub(super) fn services(qm: &QueueManager, beside: &dyn Components, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    for status in beside.services() {
        if generic_matches(request.name, &status.service.name) {
            request.add(&mut reply, "AMQ8632I", service_row(&status));
        }
    }
    let (id, reason) = match qm.object(ObjectKind::Service, request.name) {
        Some(_) => ("AMQ8738E", Reason::CCF_SERV_STATUS_NOT_FOUND),
        None => ("AMQ8147E", Reason::UNKNOWN_OBJECT_NAME),
    };
    request.found(reply, id, reason)
}

fn channel_row(instance: &ChannelStatus) -> Cells {
    let mut row = Row::of(DisplayWhat::ChStatus);
    row.push("CHANNEL", instance.channel.as_str());
    row.push("CHLTYPE", "SVRCONN");
    row.push("CONNAME", &instance.conname);
    row.push("CURRENT", "CURRENT");
    row.push(
        "STATUS",
        match instance.state {
            ChannelState::Binding => "BINDING",
            ChannelState::Running => "RUNNING",
            ChannelState::Stopping => "STOPPING",
        },
    );
    let always = row.len();
    row.push("SUBSTATE", "RECEIVE");
    let usual = row.len();
    row.push("BUFSRCVD", instance.buffers_received);
    row.push("BUFSSENT", instance.buffers_sent);
    row.push("BYTSRCVD", instance.bytes_received);
    row.push("BYTSSENT", instance.bytes_sent);
    let (date, time) = display_stamp(instance.started);
    row.push("CHSTADA", date);
    row.push("CHSTATI", time);
    // Nothing is compressed, and there are no exits.
    row.push("COMPHDR", "NONE,NONE");
    row.push("COMPMSG", "NONE,NONE");
    row.push("COMPRATE", "0,0");
    row.push("COMPTIME", "0,0");
    row.push("CURSHCNV", instance.conversations);
    row.push("EXITTIME", "0,0");
    row.push("HBINT", instance.heartbeat_s);
    row.push("JOBNAME", instance.id.to_string());
    let (date, time) = instance.last_call.map(display_stamp).unzip();
    row.push("LSTMSGDA", date);
    row.push("LSTMSGTI", time);
    row.push("MAXMSGL", instance.max_message);
    row.push("MAXSHCNV", instance.max_conversations);
    row.push("MCAUSER", &instance.user);
    row.push("MCASTAT", "RUNNING");
    row.push("MONCHL", "OFF");
    row.push("MSGS", instance.calls);
    row.push("RAPPLTAG", &instance.application);
    // Four letters of a product code, then its version, VVRRMMFF.
    let product: String = instance.product.chars().take(4).collect();
    let version: String = instance.product.chars().skip(4).collect();
    row.push("RPRODUCT", &product);
    // Of channels to other queue managers.
    row.push("RQMNAME", "");
    row.push("XMITQ", "");
    row.push("RVERSION", &version);
    let tls = instance.tls.as_ref();
    let protocol = |tls: &ChannelTls| if tls.newest { "TLSV13" } else { "TLSV12" };
    row.push("SECPROT", tls.map_or("NONE", protocol));
    row.push("SSLCERTI", tls.map_or("", |tls| &tls.issuer));
    row.push("SSLCERTU", "");
    row.push("SSLCIPH", tls.map_or("", |tls| &tls.cipher_spec));
    // Keys are renewed by the protocol itself, and nobody is told.
    row.push("SSLKEYDA", "");
    row.push("SSLKEYTI", "");
    row.push("SSLPEER", tls.map_or("", |tls| &tls.peer));
    row.push("SSLRKEYS", 0);
    row.push("STOPREQ", "NO");
    Cells { row, always, usual }
}

/// A channel that STOP CHANNEL has stopped and that has no instance left: every keyword, blank where it
/// is about an instance.
fn stopped_row(channel: &str) -> Cells {
    let mut row = Row::of(DisplayWhat::ChStatus);
    for keyword in status_keywords(DisplayWhat::ChStatus, DisplayType::All) {
        match keyword {
            "CHANNEL" => row.push(keyword, channel),
            "CHLTYPE" => row.push(keyword, "SVRCONN"),
            "CURRENT" => row.push(keyword, "CURRENT"),
            "STATUS" | "MCASTAT" => row.push(keyword, "STOPPED"),
            "STOPREQ" => row.push(keyword, "YES"),
            _ => row.push(keyword, ""),
        }
    }
    let mut keywords = row.cells().iter().map(|cell| cell.attribute().keyword);
    let headings = keywords.position(|keyword| keyword == "STATUS");
    let always = headings.map_or(0, |at| at + 1);
    let usual = always;
    Cells { row, always, usual }
}

fn listener_row(listener: &ListenerStatus) -> Cells {
    let mut row = Row::of(DisplayWhat::LsStatus);
    row.push("LISTENER", listener.name.as_str());
    row.push(
        "STATUS",
        match listener.started {
            Some(_) => "RUNNING",
            None => "STARTING",
        },
    );
    row.push("PID", std::process::id());
    let always = row.len();
    let (date, time) = listener.started.map(display_stamp).unzip();
    row.push("STARTDA", date);
    row.push("STARTTI", time);
    row.push("DESCR", &listener.description);
    row.push("TRPTYPE", "TCP");
    row.push("CONTROL", listener.control);
    row.push("IPADDR", listener.host.as_str());
    row.push("PORT", listener.port);
    row.push("BACKLOG", listener.backlog);
    Cells::whole(row, always)
}

fn service_row(status: &ServiceStatus) -> Cells {
    let (date, time) = display_stamp(status.started);
    let mut row = Row::of(DisplayWhat::SvStatus);
    row.push("SERVICE", status.service.name.as_str());
    row.push("STATUS", status.state.word());
    row.push("PID", status.pid);
    let always = row.len();
    row.push("STARTDA", date);
    row.push("STARTTI", time);
    // What it was started by, whatever the definition says now.
    for (keyword, selector) in [
        ("CONTROL", MQIA_SERVICE_CONTROL),
        ("DESCR", MQCA_SERVICE_DESC),
        ("SERVTYPE", MQIA_SERVICE_TYPE),
        ("STARTARG", MQCA_SERVICE_START_ARGS),
        ("STARTCMD", MQCA_SERVICE_START_COMMAND),
        ("STDERR", MQCA_STDERR_DESTINATION),
        ("STDOUT", MQCA_STDOUT_DESTINATION),
        ("STOPARG", MQCA_SERVICE_STOP_ARGS),
        ("STOPCMD", MQCA_SERVICE_STOP_COMMAND),
    ] {
        row.push(keyword, status.service.attrs.get(selector).cloned());
    }
    Cells::whole(row, always)
}
