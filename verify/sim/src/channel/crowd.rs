//! Very many gets that wait on one connection, and what must go on beside them: a commit and heartbeats are answered,
//! and what waits keeps no buffer. Then their channel stops, and nothing is left.

use std::cell::Cell;
use std::rc::Rc;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};

use super::clients::{CROWD, offer, open_queue};
use super::conversation::Conversation;
use super::line::{Line, within};
use super::site::Site;

/// More than any limit on requests that are at work.
const GETS: u64 = 300;
/// Milliseconds that they wait.
const WAIT: u64 = 10_000;
/// Nanoseconds within which a call beside them is answered, and all of them are set up.
const ANSWER: u64 = 2_000_000_000;
const SETTLED: u64 = 500_000_000;

/// Lets the crowd come, looks at it, and has it leave.
pub(crate) async fn crowd(site: Rc<Site>) {
    let line = Line::open(&site, site.plan.whole(), &offer(CROWD, 999));
    let waiting = Rc::new(Cell::new(0));
    let come = within(&*site.clock, ANSWER, come(&site, &line, &waiting)).await;
    match come {
        Some(Some(committer)) => look(&site, &line, &committer).await,
        None if !excused(&site, &line) => {
            let waiting = waiting.get();
            site.stuck(format!(
                "with {waiting} gets waiting their connection is not served"
            ));
        }
        Some(None) | None => {}
    }
    leave(&site).await;
    line.hang_up();
}

/// Whether there is another reason for calls without an answer.
fn excused(site: &Site, line: &Line) -> bool {
    line.over().is_some() || site.qm.stopped().is_some() || site.registry.is_ending()
}

/// Ends when all of them wait; gives a conversation beside them.
async fn come(site: &Rc<Site>, line: &Rc<Line>, waiting: &Rc<Cell<u64>>) -> Option<Conversation> {
    line.agreed().await.ok()?;
    let committer = Conversation::connect(site, line, line.first(), "committer").await;
    let committer = committer.ok()?;
    for _ in 0..GETS {
        let id = line.start().await.ok()??;
        let getter = getter(Rc::clone(site), Rc::clone(line), id, Rc::clone(waiting));
        site.executor.spawn("getter", getter);
    }
    while waiting.get() < GETS {
        site.sleep(1_000_000).await;
        if excused(site, line) {
            return None;
        }
    }
    Some(committer)
}

async fn look(site: &Site, line: &Line, committer: &Conversation) {
    site.sleep(SETTLED).await;
    let kept = site.registry.kept_for_output();
    if kept > 0 {
        site.stuck(format!(
            "{kept} bytes of output buffers are kept while gets wait"
        ));
    }
    for _ in 0..5 {
        let commit = within(&*site.clock, ANSWER, committer.commit()).await;
        match commit {
            Some(Ok(_)) => site.met("commit answered while very many gets wait"),
            _ if excused(site, line) => return,
            Some(Err(reason)) => site.stuck(format!("a commit beside waiting gets: {reason}")),
            None => site.stuck(format!("{GETS} gets wait, and a commit has no answer")),
        }
    }
    let before = line.heartbeats();
    line.send(|socket, out| socket.heartbeat(out));
    site.sleep(SETTLED).await;
    match line.heartbeats() > before {
        true => site.met("heartbeat answered while very many gets wait"),
        false if excused(site, line) => {}
        false => site.stuck(format!("{GETS} gets wait, and a heartbeat has no answer")),
    }
}

async fn getter(site: Rc<Site>, line: Rc<Line>, id: u32, waiting: Rc<Cell<u64>>) {
    let Ok(conversation) = Conversation::connect(&site, &line, id, "getter").await else {
        return;
    };
    let Some(handle) = open_queue(&conversation, CROWD, MQOO_INPUT_SHARED).await else {
        return;
    };
    waiting.set(waiting.get() + 1);
    let reason = wait(&conversation, handle).await;
    match reason {
        // At the end of its wait, or with its connection.
        Some(Reason::NO_MSG_AVAILABLE | Reason::CONNECTION_QUIESCING | Reason::Q_MGR_QUIESCING) => {
        }
        _ if excused(&site, &line) => {}
        other => site.stuck(format!("a get on an empty queue ended with {other:?}")),
    }
}

async fn wait(conversation: &Conversation, handle: Hobj) -> Option<Reason> {
    let (mut md, mut gmo) = (Md::default(), Gmo::default());
    gmo.options = MQGMO_NO_SYNCPOINT | MQGMO_WAIT | MQGMO_FAIL_IF_QUIESCING;
    gmo.wait_interval = WAIT as i32;
    // A request for messages is no request that is at work.
    let got = conversation.get_by_a_call(handle, &mut md, &mut gmo, 100);
    let got = got.await;
    got.err()
}

/// STOP CHANNEL for all of them.
async fn leave(site: &Rc<Site>) {
    let force = site.below(2) == 0;
    super::operator::stop_and_look(site, CROWD, force).await;
}
