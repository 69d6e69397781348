//! A connection to a queue manager and its verbs.
//!
//! Invariants:
//! * One verb is outstanding at a time; its reply is the next thing that matters on the socket. Asynchronous puts
//!   (`asynchronous`) have no reply and go out in order with everything else.
//! * After a broken connection every further call says so (2009); nothing is retried, because only
//!   the application knows whether its last call may be repeated.

use std::time::Duration;

use posthaste_mqi::constants::{MQIA_FIRST, MQIA_LAST};
use posthaste_mqi::{
    CompCode, Done, Gmo, Got, Hobj, Inquired, Md, Mqi, Name, Od, Pmo, Reason, Sd, Sro, Sts,
    Subscribed, Verb,
};
use posthaste_wire::Reply;
use posthaste_wire::client::{ClientPut, ClientPut1, ClientSocket};
use posthaste_wire::request::{
    InqRequest, OpenDefaults, OpenRequest, Request, SetRequest, StatRequest,
};
use posthaste_wire::subscribe::{SubRequest, SubRqRequest};

use crate::asynchronous::AsyncPuts;
use crate::conversations::Place;
use crate::exclusive::{Exclusive, SocketParts};
use crate::protocol::check_length;
use crate::{Address, ClientError, Connect};

/// What a call over a socket comes to; `Err` is the reason of a completion code `MQCC_FAILED`, and what is known of it
/// beside.
pub type Call<T> = Result<Done<T>, ClientError>;

/// How the bytes go.
enum Road {
    /// A socket of its own, which the calling thread reads.
    Exclusive(Box<Exclusive>),
    /// A place on a socket that others use too.
    Shared(Place),
}

/// A connection (MQCONN). Dropping it without [`Connection::disconnect`] is a lost connection: the
/// queue manager backs its unit of work out.
pub struct Connection {
    road: Road,
    id: u32,
    queue_manager: Name,
    /// None over a local socket.
    channel: Option<String>,
    pub(crate) broken: bool,
    max_message: usize,
    /// For asynchronous puts.
    pub(crate) async_puts: AsyncPuts,
}

/// Records of a distribution list that are announced but not there would not travel.
fn check_records(count: i32, are_there: bool) -> Result<(), ClientError> {
    match count == 0 || are_there {
        true => Ok(()),
        false => Err(ClientError::Reason(Reason::RECS_PRESENT_ERROR)),
    }
}

impl Connection {
    /// Connects. With [`Connect::conversations`] others may share the socket ([`Connection::another`]).
    ///
    /// # Errors
    /// 2538 nobody listens, 2540 unknown channel, 2537 channel not available, 2058 other queue
    /// manager, 2035 not authorised, 2059, 2161, 2162 queue manager not available, quiescing,
    /// stopping.
    pub fn open(connect: &Connect) -> Result<Connection, ClientError> {
        let (mut socket, queue_manager) = Exclusive::connect(connect)?;
        let protocol = socket.protocol();
        let (id, max_message) = (protocol.first_conversation(), protocol.max_message());
        let road = match protocol.shared() {
            true => Road::Shared(Place::first(socket)?),
            false => Road::Exclusive(Box::new(socket)),
        };
        let channel = match connect.address {
            Address::Unix(_) => None,
            Address::Tcp { .. } => Some(connect.channel.clone()),
        };
        let connection = (road, id, queue_manager, channel, max_message);
        Ok(Connection::new(connect, connection))
    }

    fn new(
        connect: &Connect,
        (road, id, queue_manager, channel, max_message): (Road, u32, Name, Option<String>, usize),
    ) -> Connection {
        Connection {
            road,
            id,
            queue_manager,
            channel,
            broken: false,
            max_message,
            async_puts: AsyncPuts::new(&connect.application),
        }
    }

    /// One more connection over the same socket, for another thread, as `connect` says but for where; none if the
    /// socket is not shared or has no room for it. Each has its own unit of work, and none waits for another.
    ///
    /// # Errors
    /// Those of [`Connection::open`].
    pub fn another(&self, connect: &Connect) -> Result<Option<Connection>, ClientError> {
        let Road::Shared(place) = &self.road else {
            return Ok(None);
        };
        let connected = place.another(connect)?;
        Ok(connected.map(|(place, queue_manager)| {
            let id = place.conversation();
            let road = Road::Shared(place);
            let channel = self.channel.clone();
            let connection = (road, id, queue_manager, channel, self.max_message);
            Connection::new(connect, connection)
        }))
    }

    /// Gives the socket, which nobody shares, to somebody else.
    pub(crate) fn hand_over(self) -> Result<SocketParts, ClientError> {
        self.usable()?;
        match self.road {
            Road::Exclusive(socket) => Ok(socket.hand_over()?),
            Road::Shared(_) => Err(ClientError::Reason(Reason::HCONN_ERROR)),
        }
    }

    /// From now on a queue manager that says nothing for so long is not waited for any more: calls end with
    /// [`ClientError::Silent`], and the connection is broken. A call that waits by itself must wait for less.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn give_up_after(&mut self, silence: Duration) -> Result<(), ClientError> {
        match &mut self.road {
            Road::Exclusive(socket) => socket.give_up_after(silence)?,
            Road::Shared(place) => place.give_up_after(silence),
        }
        Ok(())
    }

    /// The channel it goes over; none for the socket of a queue manager of this machine, which has no channel that
    /// anybody defined.
    pub fn channel(&self) -> Option<String> {
        self.channel.clone()
    }

    /// Bytes of the longest message that was agreed on when connecting.
    pub fn max_message(&self) -> usize {
        self.max_message
    }

    /// The name of the queue manager that answered.
    pub fn queue_manager(&self) -> String {
        self.queue_manager.text().into_owned()
    }

    /// Whether the channel carries a message of this length. One that is much longer would break the connection.
    pub(crate) fn check_length(&self, data: &[u8]) -> Result<(), ClientError> {
        check_length(data, self.max_message)
    }

    /// Adds what has a reply, which [`Connection::reply`] waits for.
    fn append(
        &mut self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>, u32),
    ) -> Result<(), ClientError> {
        let id = self.id;
        match &mut self.road {
            Road::Exclusive(socket) => socket.append(|socket, out| encode(socket, out, id)),
            Road::Shared(place) => place.append(encode).inspect_err(|_| self.broken = true)?,
        }
        Ok(())
    }

    /// Sends what has no reply.
    pub(crate) fn gather(
        &mut self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>, u32),
    ) -> Result<(), ClientError> {
        let id = self.id;
        let sent = match &mut self.road {
            Road::Exclusive(socket) => socket
                .gather(|socket, out| encode(socket, out, id))
                .map_err(ClientError::Broken),
            Road::Shared(place) => place.gather(encode),
        };
        sent.inspect_err(|_| self.broken = true)
    }

    /// Sends nothing more; waits for the reply that is due.
    fn reply(&mut self) -> Result<(Hobj, Reason, Reply), ClientError> {
        let reply = match &mut self.road {
            Road::Exclusive(socket) => socket.reply(),
            Road::Shared(place) => place.reply(),
        };
        let (outcome, reply) = reply.inspect_err(|_| self.broken = true)?;
        match outcome.comp_code {
            CompCode::Failed => Err(ClientError::Reason(outcome.reason)),
            _ => Ok((outcome.handle, outcome.reason, reply)),
        }
    }

    /// The reply is to the verb that was called, but brings something else.
    pub(crate) fn wrong_reply(&mut self) -> ClientError {
        self.broken = true;
        ClientError::Reason(Reason::CONNECTION_BROKEN)
    }

    pub(crate) fn usable(&self) -> Result<(), ClientError> {
        if self.broken {
            return Err(ClientError::Reason(Reason::CONNECTION_BROKEN));
        }
        Ok(())
    }

    pub(crate) fn call(
        &mut self,
        handle: Hobj,
        request: &Request,
    ) -> Result<(Hobj, Reason, Reply), ClientError> {
        self.usable()?;
        self.append(|socket, out, id| socket.request(out, id, handle, request))?;
        self.reply()
    }

    /// MQOPEN.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn open_object(&mut self, od: &mut Od, options: i32) -> Call<Hobj> {
        let request = OpenRequest {
            od: od.clone(),
            options,
            defaults: Some(OpenDefaults::default()),
        };
        let (handle, warning, reply) = self.call(Hobj(0), &Request::Open(Box::new(request)))?;
        if let Reply::Open(open) = reply {
            self.async_puts.opened(handle, open.defaults.as_ref());
            *od = open.od;
        }
        Ok(Done {
            value: handle,
            warning,
        })
    }

    /// MQCLOSE.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn close(&mut self, handle: Hobj, options: i32) -> Call<()> {
        let closed = self.call(handle, &Request::Close { options })?;
        self.async_puts.closed(handle);
        Ok(plain(closed))
    }

    /// MQPUT. The descriptor and the options come back filled.
    ///
    /// With `MQPMO_ASYNC_RESPONSE`, or `MQPMO_RESPONSE_AS_Q_DEF` on a queue that had DEFPRESP(ASYNC) when it was
    /// opened, the message is sent and nothing is waited for but room to send it: what became of it is told by
    /// [`Connection::stat`]. Of the descriptor only identifiers that were asked for and the origin of the message
    /// come back then. `MQPMO_SYNC_RESPONSE` waits in any case.
    ///
    /// # Errors
    /// The reason the queue manager gives, 2009, or 2010 when the message is longer than the channel allows
    /// (MAXMSGL), which is found out before anything is sent. For an asynchronous put only what is known here: 2009,
    /// 2010, 2019, 2046, 2154.
    pub fn put(&mut self, handle: Hobj, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Call<()> {
        self.usable()?;
        check_records(pmo.recs_present, pmo.records.is_some())?;
        if self.async_puts.is_asked(handle, pmo.options)? {
            return self.put_async(handle, md, pmo, data);
        }
        self.check_length(data)?;
        let put = ClientPut {
            handle,
            md,
            pmo,
            data,
            answered: true,
        };
        self.append(|socket, out, id| socket.put(out, id, &put))?;
        let (_, warning, reply) = self.reply()?;
        if let Reply::Put { md: m, pmo: p } = reply {
            *md = m;
            *pmo = p;
        }
        Ok(Done { value: (), warning })
    }

    /// MQPUT1. With `MQPMO_ASYNC_RESPONSE` nothing is waited for, as by [`Connection::put`];
    /// `MQPMO_RESPONSE_AS_Q_DEF` waits, for without an open nothing is known of the queue.
    ///
    /// # Errors
    /// Those of [`Connection::put`].
    pub fn put1(&mut self, od: &mut Od, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Call<()> {
        self.usable()?;
        check_records(pmo.recs_present, pmo.records.is_some())?;
        check_records(od.recs_present, od.records.is_some())?;
        if AsyncPuts::is_asked_by_options(pmo.options)? == Some(true) {
            return self.put1_ahead(od, md, pmo, data);
        }
        self.check_length(data)?;
        let put = ClientPut1 {
            od,
            md,
            pmo,
            data,
            answered: true,
        };
        self.append(|socket, out, id| socket.put1(out, id, &put))?;
        let (_, warning, reply) = self.reply()?;
        if let Reply::Put1(filled) = reply {
            (*od, *md, *pmo) = *filled;
        }
        Ok(Done { value: (), warning })
    }

    /// MQGET. `max` is the longest message that is taken, in bytes.
    ///
    /// # Errors
    /// 2033 and the other reasons the queue manager gives, or 2009.
    pub fn get(&mut self, handle: Hobj, md: &mut Md, gmo: &mut Gmo, max: usize) -> Call<Got> {
        self.usable()?;
        let buffer = i32::try_from(max).unwrap_or(i32::MAX);
        self.append(|socket, out, id| socket.get(out, id, handle, md, gmo, buffer))?;
        match self.reply()? {
            (_, warning, Reply::Get(got)) => {
                *md = got.md;
                *gmo = got.gmo;
                let value = Got {
                    data: got.data,
                    length: got.length,
                };
                Ok(Done { value, warning })
            }
            _ => Err(self.wrong_reply()),
        }
    }

    /// MQSUB. `own` is the application's own queue for the messages, [`Hobj::NONE`] where the queue manager is to make one
    /// or the subscription has one. The descriptor comes back filled.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn subscribe(&mut self, sd: &mut Sd, own: Hobj) -> Call<Subscribed> {
        let request = SubRequest {
            subscription: Hobj::UNUSABLE,
            reserved: 0,
            sd: sd.clone(),
        };
        match self.call(own, &Request::Sub(Box::new(request)))? {
            (messages, warning, Reply::Sub(sub)) => {
                *sd = sub.sd;
                let value = Subscribed {
                    messages,
                    subscription: sub.subscription,
                };
                Ok(Done { value, warning })
            }
            _ => Err(self.wrong_reply()),
        }
    }

    /// MQSUBRQ: retained publications are sent again; the options come back with how many.
    ///
    /// # Errors
    /// 2437 there is none, other reasons the queue manager gives, or 2009.
    pub fn subscription_request(
        &mut self,
        subscription: Hobj,
        action: i32,
        sro: &mut Sro,
    ) -> Call<()> {
        let request = SubRqRequest { action, sro: *sro };
        match self.call(subscription, &Request::SubRq(request))? {
            (_, warning, Reply::SubRq(sub)) => {
                *sro = sub.sro;
                Ok(Done { value: (), warning })
            }
            _ => Err(self.wrong_reply()),
        }
    }

    /// MQCMIT.
    ///
    /// # Errors
    /// 2003 backed out instead; the reason the queue manager gives, or 2009: then the outcome is
    /// not known.
    pub fn commit(&mut self) -> Call<()> {
        self.call(Hobj(0), &Request::Commit).map(plain)
    }

    /// MQBACK.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn backout(&mut self) -> Call<()> {
        self.call(Hobj(0), &Request::Back).map(plain)
    }

    /// MQINQ. `char_length` is the room for characters, in bytes.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn inquire(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        char_length: usize,
    ) -> Call<Inquired> {
        let ints = selectors
            .iter()
            .filter(|s| (MQIA_FIRST..=MQIA_LAST).contains(*s));
        let request = InqRequest {
            selectors: selectors.to_vec(),
            int_count: i32::try_from(ints.count()).unwrap_or(i32::MAX),
            char_length: i32::try_from(char_length).unwrap_or(i32::MAX),
        };
        match self.call(handle, &Request::Inq(request))? {
            (_, warning, Reply::Inq(inq)) => {
                let value = Inquired {
                    ints: inq.ints,
                    chars: inq.chars,
                };
                Ok(Done { value, warning })
            }
            _ => Err(self.wrong_reply()),
        }
    }

    /// MQSET.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn set(&mut self, handle: Hobj, selectors: &[i32], ints: &[i32], chars: &[u8]) -> Call<()> {
        let request = SetRequest {
            selectors: selectors.to_vec(),
            ints: ints.to_vec(),
            chars: chars.to_vec(),
        };
        self.call(handle, &Request::Set(Box::new(request)))
            .map(plain)
    }

    /// MQSTAT (type 0): how many asynchronous puts succeeded, gave a warning and failed since it was asked last,
    /// and of the first that failed, or else gave a warning, the reason and the queue. Every put before this call
    /// is counted.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn stat(&mut self) -> Call<Sts> {
        let request = StatRequest {
            kind: 0,
            sts: Sts::default(),
        };
        match self.call(Hobj(0), &Request::Stat(Box::new(request)))? {
            (_, warning, Reply::Stat(stat)) => Ok(Done {
                value: stat.sts,
                warning,
            }),
            _ => Err(self.wrong_reply()),
        }
    }

    /// MQDISC: commits and ends the connection. The warning 2003 says that the unit of work was backed out instead.
    ///
    /// # Errors
    /// Those of [`Connection::commit`] but 2003; the connection has ended all the same.
    pub fn disconnect(mut self) -> Call<()> {
        self.leave()
    }

    /// [`Connection::disconnect`] for an owner that cannot give the connection away. No call works afterwards.
    ///
    /// # Errors
    /// Those of [`Connection::disconnect`].
    pub fn leave(&mut self) -> Call<()> {
        let result = self.call(Hobj(0), &Request::Disc).map(plain);
        if !self.broken {
            match &mut self.road {
                Road::Exclusive(socket) => socket.end(),
                Road::Shared(place) => place.end(),
            }
        }
        self.broken = true;
        result
    }
}

/// What is left of a reply that brings nothing but its codes.
fn plain((_, warning, _): (Hobj, Reason, Reply)) -> Done<()> {
    Done { value: (), warning }
}

/// What a program of the MQ Interface is told.
fn verb<T>(call: Call<T>) -> Verb<T> {
    call.map_err(|error| error.reason())
}

impl Mqi for Connection {
    fn queue_manager(&self) -> String {
        Connection::queue_manager(self)
    }

    fn open_object(&mut self, od: &mut Od, options: i32) -> Verb<Hobj> {
        verb(Connection::open_object(self, od, options))
    }

    fn close(&mut self, handle: Hobj, options: i32) -> Verb<()> {
        verb(Connection::close(self, handle, options))
    }

    fn put(&mut self, handle: Hobj, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()> {
        verb(Connection::put(self, handle, md, pmo, data))
    }

    fn put1(&mut self, od: &mut Od, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()> {
        verb(Connection::put1(self, od, md, pmo, data))
    }

    fn get(&mut self, handle: Hobj, md: &mut Md, gmo: &mut Gmo, max: usize) -> Verb<Got> {
        verb(Connection::get(self, handle, md, gmo, max))
    }

    fn subscribe(&mut self, sd: &mut Sd, own: Hobj) -> Verb<Subscribed> {
        verb(Connection::subscribe(self, sd, own))
    }

    fn subscription_request(&mut self, subscription: Hobj, action: i32, sro: &mut Sro) -> Verb<()> {
        verb(Connection::subscription_request(
            self,
            subscription,
            action,
            sro,
        ))
    }

    fn commit(&mut self) -> Verb<()> {
        verb(Connection::commit(self))
    }

    fn backout(&mut self) -> Verb<()> {
        verb(Connection::backout(self))
    }

    fn inquire(&mut self, handle: Hobj, selectors: &[i32], char_length: usize) -> Verb<Inquired> {
        verb(Connection::inquire(self, handle, selectors, char_length))
    }

    fn set(&mut self, handle: Hobj, selectors: &[i32], ints: &[i32], chars: &[u8]) -> Verb<()> {
        verb(Connection::set(self, handle, selectors, ints, chars))
    }

    fn stat(&mut self) -> Verb<Sts> {
        verb(Connection::stat(self))
    }

    fn disconnect(self: Box<Self>) -> Verb<()> {
        verb(Connection::disconnect(*self))
    }
}
