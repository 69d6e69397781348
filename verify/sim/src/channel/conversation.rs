//! The calls of an application over a channel: the same as those of a session in the queue manager's own process.
//!
//! A call ends with 2009 when the connection was lost and nobody knows what became of it. It ends with 2203 when the
//! server said, instead of an answer, that the connection ends: then the call had no effect.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use posthaste_engine::{Done, Got, Inquired, QueueManager, Verb};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, CompCode, Gmo, Hobj, Md, Name, Od, Pmo, Reason, Sts};
use posthaste_wire::client::{ClientPut, ClientPut1};
use posthaste_wire::identity::Userid;
use posthaste_wire::request::{
    ConnRequest, InqRequest, OpenDefaults, OpenRequest, Request, SetRequest, StatRequest,
};
use posthaste_wire::{Outcome, Reply};

use super::clients::{ALONE, offer};
use super::coordinated::Coordinated;
use super::line::{Line, Over, within};
use super::site::Site;
use super::streamed::Stream;

/// Nanoseconds within which the server has done with a connection that is over.
pub(crate) const GONE: u64 = 40_000_000_000;

/// A connected conversation.
pub(crate) struct Conversation {
    pub(crate) line: Rc<Line>,
    pub(super) id: u32,
    pub(super) site: Rc<Site>,
    /// What a transaction manager that coordinates it has called, if one does.
    pub(super) coordinated: Option<RefCell<Coordinated>>,
    /// What it was sent without a call.
    pub(super) stream: Stream,
}

/// What has come, or the reason that its connection is over.
pub(super) fn answer_of<T>(came: Result<T, Over>) -> Result<T, Reason> {
    came.map_err(|over| match over {
        Over::Ended(_) => Reason::CONNECTION_STOPPING,
        Over::Refused(_) | Over::Lost => Reason::CONNECTION_BROKEN,
    })
}

fn answer(reply: Result<(Outcome, Reply), Over>) -> Result<(Outcome, Reply), Reason> {
    match answer_of(reply)? {
        (outcome, _) if outcome.comp_code == CompCode::Failed => Err(outcome.reason),
        answer => Ok(answer),
    }
}

fn done<T>(outcome: Outcome, value: T) -> Done<T> {
    Done {
        value,
        warning: outcome.reason,
    }
}

impl Conversation {
    /// MQCONN on a conversation that has begun.
    pub(crate) async fn connect(
        site: &Rc<Site>,
        line: &Rc<Line>,
        id: u32,
        name: &str,
    ) -> Result<Conversation, Reason> {
        let conversation = Conversation {
            line: Rc::clone(line),
            id,
            site: Rc::clone(site),
            coordinated: None,
            stream: Stream::default(),
        };
        if id == line.first() {
            let userid = Userid {
                user: Chars::new("APP"),
                password: [b' '; 12].into(),
                long_user: Chars::new("app"),
            };
            line.send(|socket, out| socket.userid(out, id, &userid));
        }
        let request = ConnRequest {
            q_mgr: Name::default(),
            application: Chars::new(name),
            application_type: MQAT_UNIX,
            accounting_token: [0; 32],
            options: 1,
            connect_options: 0,
            fcno: ConnRequest::plain_fcno(ByteOrder::Little),
        };
        let request = Request::Conn(Box::new(request));
        conversation.request(Hobj::NONE, &request).await?;
        Ok(conversation)
    }

    /// The first conversation of a connection of its own, which nothing cuts.
    pub(crate) async fn alone(site: &Rc<Site>, name: &str) -> Result<Conversation, Reason> {
        let line = Line::open(site, site.plan.whole(), &offer(ALONE, 1));
        line.agreed().await.map_err(|_| Reason::CONNECTION_BROKEN)?;
        Conversation::connect(site, &line, line.first(), name).await
    }

    /// Closes the connection as a program does that ends, and comes again when the server has seen it.
    pub(crate) async fn lose(&self, name: &str) -> Result<Conversation, Reason> {
        self.line.hang_up();
        self.server_gone().await;
        Conversation::alone(&self.site, name).await
    }

    /// A transaction manager coordinates it from now on.
    pub(super) fn coordinate(&mut self) {
        self.coordinated = Some(RefCell::default());
    }

    pub(super) async fn request(
        &self,
        handle: Hobj,
        request: &Request,
    ) -> Result<(Outcome, Reply), Reason> {
        let id = self.id;
        answer(
            self.line
                .call(id, |socket, out| socket.request(out, id, handle, request))
                .await,
        )
    }

    pub(crate) async fn open(&self, od: &mut Od, options: i32) -> Verb<Hobj> {
        let request = OpenRequest {
            od: od.clone(),
            options,
            defaults: Some(OpenDefaults::default()),
        };
        let request = Request::Open(Box::new(request));
        let (outcome, reply) = self.request(Hobj::NONE, &request).await?;
        if let Reply::Open(open) = reply {
            *od = open.od;
        }
        Ok(done(outcome, outcome.handle))
    }

    pub(crate) async fn close(&self, handle: Hobj, options: i32) -> Verb<()> {
        let (outcome, _) = self.request(handle, &Request::Close { options }).await?;
        Ok(done(outcome, ()))
    }

    pub(crate) async fn put(
        &self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        // Who waits for the answer wants one.
        pmo.options &= !MQPMO_ASYNC_RESPONSE;
        let id = self.id;
        let put = ClientPut {
            handle,
            md,
            pmo,
            data: &data,
            answered: true,
        };
        let reply = self.line.call(id, |socket, out| socket.put(out, id, &put));
        let (outcome, reply) = answer(reply.await)?;
        if let Reply::Put { md: m, pmo: p } = reply {
            (*md, *pmo) = (m, p);
        }
        Ok(done(outcome, ()))
    }

    /// MQPUT with MQPMO_ASYNC_RESPONSE: what became of it only MQSTAT will tell.
    ///
    /// # Errors
    /// 2009 the connection is lost: nothing was sent.
    pub(crate) fn put_unanswered(
        &self,
        handle: Hobj,
        md: &Md,
        pmo: &Pmo,
        data: &[u8],
    ) -> Result<(), Reason> {
        if self.is_over() {
            return Err(Reason::CONNECTION_BROKEN);
        }
        let put = ClientPut {
            handle,
            md,
            pmo,
            data,
            answered: false,
        };
        let id = self.id;
        self.line.send(|socket, out| socket.put(out, id, &put));
        Ok(())
    }

    /// MQPUT1 with MQPMO_ASYNC_RESPONSE.
    ///
    /// # Errors
    /// 2009 the connection is lost: nothing was sent.
    pub(crate) fn put1_unanswered(
        &self,
        od: &Od,
        md: &Md,
        pmo: &Pmo,
        data: &[u8],
    ) -> Result<(), Reason> {
        if self.is_over() {
            return Err(Reason::CONNECTION_BROKEN);
        }
        let put = ClientPut1 {
            od,
            md,
            pmo,
            data,
            answered: false,
        };
        let id = self.id;
        self.line.send(|socket, out| socket.put1(out, id, &put));
        Ok(())
    }

    /// MQSTAT: what has become of puts without an answer since it was called last.
    pub(crate) async fn stat(&self) -> Result<Sts, Reason> {
        let request = StatRequest {
            kind: MQSTAT_TYPE_ASYNC_ERROR,
            sts: Sts::default(),
        };
        let request = Request::Stat(Box::new(request));
        match self.request(Hobj::NONE, &request).await? {
            (_, Reply::Stat(stat)) => Ok(stat.sts),
            (outcome, _) => Err(outcome.reason),
        }
    }

    pub(crate) async fn put1(
        &self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        pmo.options &= !MQPMO_ASYNC_RESPONSE;
        let id = self.id;
        let put = ClientPut1 {
            od,
            md,
            pmo,
            data: &data,
            answered: true,
        };
        let reply = self.line.call(id, |socket, out| socket.put1(out, id, &put));
        let (outcome, reply) = answer(reply.await)?;
        if let Reply::Put1(filled) = reply {
            (*od, *md, *pmo) = *filled;
        }
        Ok(done(outcome, ()))
    }

    pub(crate) async fn get(
        &self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer: usize,
    ) -> Verb<Got> {
        match self.streams(gmo) {
            true => self.streamed(handle, md, gmo, buffer).await,
            false => self.get_by_a_call(handle, md, gmo, buffer).await,
        }
    }

    /// MQGET, and nothing else.
    pub(crate) async fn get_by_a_call(
        &self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer: usize,
    ) -> Verb<Got> {
        let id = self.id;
        let room = i32::try_from(buffer).unwrap_or(i32::MAX);
        let reply = self.line.call(id, |socket, out| {
            socket.get(out, id, handle, md, gmo, room);
        });
        match answer(reply.await)? {
            (outcome, Reply::Get(got)) => {
                (*md, *gmo) = (got.md, got.gmo);
                let got = Got {
                    data: got.data,
                    length: got.length,
                };
                Ok(done(outcome, got))
            }
            (outcome, _) => Err(outcome.reason),
        }
    }

    pub(crate) async fn inquire(&self, handle: Hobj, selectors: &[i32]) -> Verb<Inquired> {
        let request = InqRequest {
            selectors: selectors.to_vec(),
            int_count: i32::try_from(selectors.len()).unwrap_or(i32::MAX),
            char_length: 0,
        };
        let (outcome, reply) = self.request(handle, &Request::Inq(request)).await?;
        let inquired = match reply {
            Reply::Inq(inq) => Inquired {
                ints: inq.ints,
                chars: inq.chars,
            },
            _ => Inquired::default(),
        };
        Ok(done(outcome, inquired))
    }

    pub(crate) async fn set(
        &self,
        handle: Hobj,
        selectors: &[i32],
        ints: &[i32],
        chars: &[u8],
    ) -> Verb<()> {
        let request = SetRequest {
            selectors: selectors.to_vec(),
            ints: ints.to_vec(),
            chars: chars.to_vec(),
        };
        let request = Request::Set(Box::new(request));
        let (outcome, _) = self.request(handle, &request).await?;
        Ok(done(outcome, ()))
    }

    pub(crate) async fn commit(&self) -> Verb<()> {
        if let Some(branch) = self.branch() {
            return self.commit_one_phase(&branch).await;
        }
        let (outcome, _) = self.request(Hobj::NONE, &Request::Commit).await?;
        Ok(done(outcome, ()))
    }

    pub(crate) async fn backout(&self) -> Verb<()> {
        if let Some(branch) = self.branch() {
            return self.back_branch_out(&branch).await;
        }
        let (outcome, _) = self.request(Hobj::NONE, &Request::Back).await?;
        Ok(done(outcome, ()))
    }

    /// MQDISC, and the end of the conversation. It backs a branch out.
    pub(crate) async fn disconnect(&self) -> Verb<()> {
        let (outcome, _) = self.request(Hobj::NONE, &Request::Disc).await?;
        let id = self.id;
        self.line
            .send(|socket, out| socket.end_conversation(out, id));
        Ok(done(outcome, ()))
    }

    /// Whether no call can be made any more.
    pub(crate) fn is_over(&self) -> bool {
        self.line.over().is_some()
    }

    /// Whether the session may have ended already: what was done in its unit of work is then not done.
    pub(crate) fn is_ending(&self) -> bool {
        self.line.is_ending()
    }

    /// Ends when the server has ended every session of the connection; false if it has not in time.
    pub(crate) async fn server_gone(&self) -> bool {
        let gone = self.line.server_gone();
        if within(&*self.site.clock, GONE, gone).await.is_some() {
            return true;
        }
        self.site
            .stuck("a connection that is over is still served".to_owned());
        false
    }

    /// Whether what was not committed is for the next start to back out.
    pub(crate) fn left_to_restart(&self) -> bool {
        self.site.qm.stopped().is_some() || self.site.registry.is_ending()
    }

    pub(crate) fn queue_manager(&self) -> &QueueManager {
        &self.site.qm
    }
}
