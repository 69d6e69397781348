//! Programs that come over channels: applications at work on shared connections, and clients that misuse theirs.

use std::rc::Rc;

use posthaste_env_sim::{Side, Task};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Md, Name, Od, Pmo};
use posthaste_wire::client::{ClientOffer, ClientPut};
use posthaste_wire::request::{InqRequest, Request};

use super::conversation::{Conversation, GONE};
use super::line::{Line, Over, within};
use super::site::Site;
use crate::caller::Caller;
use crate::run::Maker;

/// The channel of applications.
pub(crate) const APP: &str = "APP";
/// The channel of clients that misuse it. Its messages are short enough to begin many.
pub(crate) const MISUSE: &str = "MISUSE";
/// The channel for many conversations on one connection, and their queue.
pub(crate) const CROWD: &str = "CROWD";

/// The channel of applications that are alone with their queues, which nobody stops.
pub(crate) const ALONE: &str = "ALONE";

/// The channels and queues that simulated clients want.
pub(crate) const DEFINITIONS: [&str; 5] = [
    "DEFINE CHANNEL(ALONE) CHLTYPE(SVRCONN) SHARECNV(1) HBINT(1)",
    "DEFINE CHANNEL(APP) CHLTYPE(SVRCONN) SHARECNV(10) HBINT(1)",
    "DEFINE CHANNEL(MISUSE) CHLTYPE(SVRCONN) SHARECNV(2) HBINT(1) MAXMSGL(200000)",
    "DEFINE CHANNEL(CROWD) CHLTYPE(SVRCONN) SHARECNV(999) HBINT(1)",
    "DEFINE QLOCAL(CROWD)",
];

/// Bytes of a message that is begun and never ended.
const BEGUN: usize = 150_000;
/// Nanoseconds after which a client that was refused, or has lost its connection, tries again.
const AGAIN: u64 = 3_000_000;

pub(crate) fn offer(channel: &str, conversations: u32) -> ClientOffer {
    ClientOffer {
        channel: Chars::new(channel),
        conversations,
        heartbeat_s: 1,
        // Not our own client's: it would not be asked a second time.
        product: Chars::new("SIMU00000000"),
        ..ClientOffer::default()
    }
}

pub(crate) async fn open_queue(
    conversation: &Conversation,
    queue: &str,
    options: i32,
) -> Option<Hobj> {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    let opened = conversation.open(&mut od, options).await;
    opened.ok().map(|done| done.value)
}

/// A program with a connection after the other, each with some conversations.
pub(crate) async fn program(site: Rc<Site>, maker: Maker) {
    while !site.stopping() {
        let shared = site.below(5) > 0;
        let shape = site.plan.shape(&mut site.rng.borrow_mut(), shared);
        // Without sharing, as old clients have it, there is one conversation.
        let line = Line::open(&site, shape, &offer(APP, if shared { 10 } else { 0 }));
        match line.agreed().await {
            Ok(()) => work_on(&site, &maker, &line, shared).await,
            Err(Over::Refused(_)) => site.met("connection refused"),
            Err(_) => site.met("cut in the handshake"),
        }
        line.hang_up();
        if within(&*site.clock, GONE, line.server_gone())
            .await
            .is_none()
        {
            site.stuck("a connection that was closed is still served".to_owned());
            return;
        }
        site.sleep(1 + site.below(AGAIN)).await;
    }
}

/// Two applications that lock messages, each over a connection of its own.
pub(crate) async fn lockers(site: Rc<Site>, maker: Maker) {
    let one = Conversation::alone(&site, "locks").await;
    let other = Conversation::alone(&site, "locks").await;
    match (one, other) {
        (Ok(one), Ok(other)) => {
            site.met("locks over channels");
            let other = maker.worker(Caller::Remote(other));
            maker.worker(Caller::Remote(one)).lock(other).await;
        }
        // A queue manager that ends waits for whoever came before the end began.
        (one, other) => {
            let connected = [one, other].into_iter().flatten();
            connected.for_each(|conversation| conversation.line.hang_up());
        }
    }
}

async fn work_on(site: &Rc<Site>, maker: &Maker, line: &Rc<Line>, shared: bool) {
    let count = if shared {
        1 + site.below(site.plan.conversations)
    } else {
        1
    };
    let mut working: Vec<Task<()>> = Vec::new();
    for nth in 0..count {
        let id = match nth {
            0 => Some(line.first()),
            _ => line.start().await.unwrap_or(None),
        };
        let Some(id) = id else { break };
        if nth > 0 {
            site.met("conversations share a connection");
        }
        let (site, line, maker) = (Rc::clone(site), Rc::clone(line), maker.clone());
        let name = format!("remote {nth}");
        let working_on = site
            .executor
            .clone()
            .spawn("remote application", async move {
                let connected = Conversation::connect(&site, &line, id, &name).await;
                let Ok(mut conversation) = connected else {
                    return;
                };
                if site.below(3) == 0 {
                    conversation.coordinate();
                }
                selector_is_refused(&site, &conversation).await;
                let mut worker = maker.worker(Caller::Remote(conversation));
                if worker.open().await.is_ok() {
                    worker.work().await;
                }
            });
        working.push(working_on);
    }
    for working in working {
        working.await;
    }
    note_cut(site, line);
}

/// Where a connection was cut.
fn note_cut(site: &Site, line: &Line) {
    match line.cut() {
        Some(Side::Client) => site.met("cut in a request"),
        Some(Side::Server) => site.met("cut in a reply"),
        None => {}
    }
}

/// A malformed selector selects nothing, so a queue is not opened with one.
async fn selector_is_refused(site: &Site, conversation: &Conversation) {
    if site.below(4) > 0 {
        return;
    }
    let mut od = Od {
        version: MQOD_VERSION_4,
        object_name: Name::new(CROWD),
        selection_string: "color =".to_owned(),
        ..Od::default()
    };
    match conversation.open(&mut od, MQOO_INPUT_SHARED).await {
        Ok(_) => site.stuck("a queue was opened with a selector that is none".to_owned()),
        Err(_) if conversation.is_over() => {}
        Err(_) => site.met("selector refused"),
    }
}

async fn misuser(
    site: &Rc<Site>,
    shape: posthaste_env_sim::Shape,
) -> Option<(Rc<Line>, Conversation)> {
    let line = Line::open(site, shape, &offer(MISUSE, 2));
    line.agreed().await.ok()?;
    let conversation = Conversation::connect(site, &line, line.first(), "misuser").await;
    Some((line, conversation.ok()?))
}

/// Begins a message that it never ends.
pub(crate) async fn flood(site: Rc<Site>) {
    let Some((line, conversation)) = misuser(&site, site.plan.whole()).await else {
        return;
    };
    let Some(handle) = open_queue(&conversation, CROWD, MQOO_OUTPUT).await else {
        return;
    };
    let (md, pmo) = (Md::default(), Pmo::default());
    let data = vec![0; BEGUN + 40_000];
    let put = ClientPut {
        handle,
        md: &md,
        pmo: &pmo,
        data: &data,
        answered: true,
    };
    line.send(|socket, out| {
        let begin = out.len();
        socket.put(out, line_id(socket), &put);
        out.truncate(begin + BEGUN);
    });
    site.met("message begun and not ended");
    line.server_gone().await;
    site.met("unfinished message given up");
}

fn line_id(socket: &posthaste_wire::client::ClientSocket) -> u32 {
    socket.first_conversation()
}

/// Asks and does not read the answers.
pub(crate) async fn deaf(site: Rc<Site>) {
    let mut shape = site.plan.whole();
    shape.window = 300;
    let Some((line, conversation)) = misuser(&site, shape).await else {
        return;
    };
    let Some(handle) = open_queue(&conversation, CROWD, MQOO_INQUIRE).await else {
        return;
    };
    line.deafen();
    let request = Request::Inq(InqRequest {
        selectors: vec![MQIA_CURRENT_Q_DEPTH, MQCA_Q_NAME, MQCA_Q_DESC],
        int_count: 1,
        char_length: 112,
    });
    for _ in 0..20 {
        line.send(|socket, out| {
            let id = line_id(socket);
            socket.request(out, id, handle, &request);
        });
    }
    line.server_gone().await;
    site.met("peer that does not read given up");
}
