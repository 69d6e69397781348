//! A connection to a queue manager and its verbs.
//!
//! Invariants:
//! * One verb is outstanding at a time; its reply is the next thing that matters on the socket. Asynchronous puts
//!   (`asynchronous`) have no reply and go out in order with everything else.
//! * After a broken connection every further call says so (2009); nothing is retried, because only
//!   the application knows whether its last call may be repeated.

use std::os::fd::OwnedFd;
use std::time::Duration;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, CompCode, Gmo, Hobj, Md, Name, Od, Pmo, Reason, Sts};
use posthaste_wire::client::{ClientOffer, ClientPut, ClientPut1, ClientSocket, FromServer};
use posthaste_wire::identity::{Authentication, Userid};
use posthaste_wire::request::{
    ConnRequest, InqRequest, OpenDefaults, OpenRequest, Request, SetRequest, StatRequest,
};
use posthaste_wire::{Reply, Status};

use crate::asynchronous::Ahead;
use crate::transport::Transport;
use crate::{Address, ClientError};

/// How to connect.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Where.
    pub address: Address,
    /// Server-connection channel.
    pub channel: String,
    /// Queue manager; empty takes whichever answers.
    pub queue_manager: String,
    /// Application name (`APPLTAG`).
    pub application: String,
    /// User; none takes the process's.
    pub user: Option<String>,
    /// Password, sent as it is: use a connection that nobody can listen on.
    pub password: Option<String>,
    /// How long connecting may take.
    pub timeout: Duration,
}

impl Connect {
    /// To a queue manager at an address, with defaults for the rest.
    pub fn new(address: Address, channel: &str, queue_manager: &str) -> Connect {
        Connect {
            address,
            channel: channel.to_owned(),
            queue_manager: queue_manager.to_owned(),
            application: "posthaste".to_owned(),
            user: None,
            password: None,
            timeout: Duration::from_secs(10),
        }
    }
}

/// A message that was got, beside its descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The data, at most as much as was asked for.
    pub data: Bytes,
    /// Length of the whole message.
    pub length: usize,
    /// `Reason::NONE`, or the reason of a warning (2079, 2080, 2119).
    pub warning: Reason,
}

/// Attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquired {
    /// Integers, in the order of their selectors.
    pub ints: Vec<i32>,
    /// Characters, in the order of their selectors, at their full widths.
    pub chars: Vec<u8>,
}

/// No message is longer, whatever is agreed.
const LONGEST: usize = i32::MAX as usize;

/// Whether the channel carries a message of this length. One that is much longer would break the connection.
///
/// # Errors
/// 2010.
pub fn check_length(socket: &ClientSocket, data: &[u8]) -> Result<(), ClientError> {
    match data.len() > longest(socket) {
        true => Err(ClientError::Reason(Reason::DATA_LENGTH_ERROR)),
        false => Ok(()),
    }
}

fn longest(socket: &ClientSocket) -> usize {
    let agreed = socket.agreement();
    let agreed = agreed.map_or(0, |agreed| {
        usize::try_from(agreed.max_message).unwrap_or(LONGEST)
    });
    agreed.min(LONGEST)
}

/// What a connection consists of.
pub struct Parts {
    /// The socket, blocking, perhaps with a read timeout.
    pub stream: OwnedFd,
    /// The client's side of the protocol, established.
    pub socket: ClientSocket,
    /// The conversation that is connected.
    pub conversation: u32,
    /// Bytes that were read and belong to nothing yet.
    pub input: Vec<u8>,
}

/// A connection (MQCONN). Dropping it without [`Connection::disconnect`] is a lost connection: the
/// queue manager backs its unit of work out.
pub struct Connection {
    pub(crate) transport: Transport,
    pub(crate) id: u32,
    queue_manager: Name,
    /// None over a local socket.
    channel: Option<String>,
    pub(crate) broken: bool,
    /// For asynchronous puts.
    pub(crate) ahead: Ahead,
}

/// Distribution lists are not in this release; their records would not travel.
fn no_distribution_list(pmo: &Pmo) -> Result<(), ClientError> {
    match pmo.recs_present {
        0 => Ok(()),
        _ => Err(ClientError::Reason(Reason::RECS_PRESENT_ERROR)),
    }
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// 2538 nobody listens, 2540 unknown channel, 2537 channel not available, 2058 other queue
    /// manager, 2035 not authorised, 2059, 2161, 2162 queue manager not available, quiescing,
    /// stopping.
    pub fn open(connect: &Connect) -> Result<Connection, ClientError> {
        let offer = ClientOffer {
            channel: Chars::new(&connect.channel),
            q_mgr: Name::new(&connect.queue_manager),
            // On a socket that is not shared the server expects nobody to answer heartbeats between
            // calls, when nobody listens here; so an application may be idle for as long as it likes.
            conversations: 0,
            product: Chars::new("PHCL00010000"),
            process_id: std::process::id(),
            // On this machine the system says when the other side is gone; a caller that waits for
            // something else (its standard input, say) answers no heartbeats meanwhile.
            heartbeat_s: match connect.address {
                Address::Unix(_) => 0,
                Address::Tcp { .. } => ClientOffer::default().heartbeat_s,
            },
            ..ClientOffer::default()
        };
        let transport = Transport::connect(&connect.address, connect.timeout, |out| {
            ClientSocket::begin(&offer, out)
        })?;
        let mut connection = Connection {
            transport,
            id: 0,
            queue_manager: Name::default(),
            channel: match connect.address {
                Address::Unix(_) => None,
                Address::Tcp { .. } => Some(connect.channel.clone()),
            },
            broken: false,
            ahead: Ahead::new(&connect.application),
        };
        connection.negotiate(connect)?;
        connection.connect(connect)?;
        Ok(connection)
    }

    fn negotiate(&mut self, connect: &Connect) -> Result<(), ClientError> {
        match self.transport.receive()? {
            FromServer::Agreed(_) => {}
            FromServer::Refused(status) => return Err(ClientError::Reason(status.refusal())),
            other => return Err(self.unexpected(&other)),
        }
        self.id = self.transport.socket.first_conversation();
        let process_user = std::env::var("USER").unwrap_or_default();
        let user = connect.user.as_deref().unwrap_or(&process_user);
        let userid = Userid {
            user: Chars::new(&user.to_uppercase()),
            password: [b' '; 12].into(),
            long_user: Chars::new(user),
        };
        let id = self.id;
        self.transport
            .append(|socket, out| socket.userid(out, id, &userid));
        if let Some(password) = &connect.password {
            let authentication = Authentication {
                user: user.as_bytes().to_vec(),
                password: password.as_bytes().to_vec().into(),
            };
            self.transport
                .append(|socket, out| socket.authenticate(out, id, &authentication));
            match self.transport.receive()? {
                FromServer::Conversation { status, .. } if status == Status::OK => {}
                FromServer::Conversation { status, .. } => {
                    return Err(ClientError::Reason(status.refusal()));
                }
                other => return Err(self.unexpected(&other)),
            }
        }
        Ok(())
    }

    fn connect(&mut self, connect: &Connect) -> Result<(), ClientError> {
        let request = ConnRequest {
            q_mgr: Name::new(&connect.queue_manager),
            application: Chars::new(&connect.application),
            application_type: MQAT_UNIX,
            accounting_token: [0; 32],
            options: 1,
            connect_options: 0,
            fcno: ConnRequest::plain_fcno(ByteOrder::Little),
        };
        let (_, _, reply) = self.call(Hobj(0), &Request::Conn(Box::new(request)))?;
        if let Reply::Conn(conn) = reply {
            self.queue_manager = conn.q_mgr;
        }
        let interval = self
            .transport
            .socket
            .agreement()
            .map(|a| u64::from(a.heartbeat_s))
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs);
        self.transport.established(interval)?;
        Ok(())
    }

    /// Takes the connection apart, for a program that carries many connections in one thread and
    /// speaks the channel protocol itself. No verb is outstanding.
    ///
    /// # Errors
    /// 2009 it has broken.
    pub fn into_parts(self) -> Result<Parts, ClientError> {
        self.usable()?;
        let (stream, socket, input) = self.transport.into_parts()?;
        Ok(Parts {
            stream,
            socket,
            conversation: self.id,
            input,
        })
    }

    /// From now on a queue manager that says nothing for so long is not waited for any more: calls end with
    /// [`ClientError::Silent`], and the connection is broken. A call that waits by itself must wait for less.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn give_up_after(&mut self, silence: Duration) -> Result<(), ClientError> {
        Ok(self.transport.give_up_after(silence)?)
    }

    /// The channel it goes over; none for the socket of a queue manager of this machine, which has no channel that
    /// anybody defined.
    pub fn channel(&self) -> Option<String> {
        self.channel.clone()
    }

    /// Bytes of the longest message that was agreed on when connecting.
    pub fn max_message(&self) -> usize {
        longest(&self.transport.socket)
    }

    /// The name of the queue manager that answered.
    pub fn queue_manager(&self) -> String {
        self.queue_manager.text().into_owned()
    }

    fn unexpected(&mut self, said: &FromServer) -> ClientError {
        self.broken = true;
        ClientError::Reason(match said {
            FromServer::Ended(status) => status.ending(),
            _ => Reason::CONNECTION_BROKEN,
        })
    }

    /// Sends nothing more; waits for the reply that is due.
    pub(crate) fn reply(&mut self) -> Result<(Hobj, Reason, Reply), ClientError> {
        loop {
            let said = self
                .transport
                .receive()
                .inspect_err(|_| self.broken = true)?;
            match said {
                FromServer::Reply { outcome, reply, .. } => {
                    if outcome.comp_code == CompCode::Failed {
                        return Err(ClientError::Reason(outcome.reason));
                    }
                    return Ok((outcome.handle, outcome.reason, reply));
                }
                FromServer::Notification { .. } => {}
                other => return Err(self.unexpected(&other)),
            }
        }
    }

    pub(crate) fn usable(&self) -> Result<(), ClientError> {
        if self.broken {
            return Err(ClientError::Reason(Reason::CONNECTION_BROKEN));
        }
        Ok(())
    }

    fn call(
        &mut self,
        handle: Hobj,
        request: &Request,
    ) -> Result<(Hobj, Reason, Reply), ClientError> {
        self.usable()?;
        let id = self.id;
        self.transport
            .append(|socket, out| socket.request(out, id, handle, request));
        self.reply()
    }

    /// MQOPEN.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn open_object(&mut self, od: &mut Od, options: i32) -> Result<Hobj, ClientError> {
        let request = OpenRequest {
            od: od.clone(),
            options,
            defaults: Some(OpenDefaults::default()),
        };
        let (handle, _, reply) = self.call(Hobj(0), &Request::Open(Box::new(request)))?;
        if let Reply::Open(open) = reply {
            self.ahead.opened(handle, open.defaults.as_ref());
            *od = open.od;
        }
        Ok(handle)
    }

    /// MQCLOSE.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn close(&mut self, handle: Hobj, options: i32) -> Result<(), ClientError> {
        self.call(handle, &Request::Close { options })?;
        self.ahead.closed(handle);
        Ok(())
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
    pub fn put(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError> {
        self.usable()?;
        no_distribution_list(pmo)?;
        if self.ahead.is_asked(handle, pmo.options)? {
            return self.put_ahead(handle, md, pmo, data);
        }
        check_length(&self.transport.socket, data)?;
        let id = self.id;
        let put = ClientPut {
            handle,
            md,
            pmo,
            data,
            answered: true,
        };
        self.transport
            .append(|socket, out| socket.put(out, id, &put));
        if let (_, _, Reply::Put { md: m, pmo: p }) = self.reply()? {
            *md = m;
            *pmo = p;
        }
        Ok(())
    }

    /// MQPUT1. With `MQPMO_ASYNC_RESPONSE` nothing is waited for, as by [`Connection::put`];
    /// `MQPMO_RESPONSE_AS_Q_DEF` waits, for without an open nothing is known of the queue.
    ///
    /// # Errors
    /// Those of [`Connection::put`].
    pub fn put1(
        &mut self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError> {
        self.usable()?;
        no_distribution_list(pmo)?;
        if od.recs_present != 0 {
            return Err(ClientError::Reason(Reason::RECS_PRESENT_ERROR));
        }
        if Ahead::is_asked_by_options(pmo.options)? == Some(true) {
            return self.put1_ahead(od, md, pmo, data);
        }
        check_length(&self.transport.socket, data)?;
        let id = self.id;
        let put = ClientPut1 {
            od,
            md,
            pmo,
            data,
            answered: true,
        };
        self.transport
            .append(|socket, out| socket.put1(out, id, &put));
        if let (_, _, Reply::Put1(filled)) = self.reply()? {
            (*od, *md, *pmo) = *filled;
        }
        Ok(())
    }

    /// MQGET. `max` is the longest message that is taken, in bytes.
    ///
    /// # Errors
    /// 2033 and the other reasons the queue manager gives, or 2009.
    pub fn get(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        max: usize,
    ) -> Result<Got, ClientError> {
        self.usable()?;
        let buffer = i32::try_from(max).unwrap_or(i32::MAX);
        let id = self.id;
        self.transport
            .append(|socket, out| socket.get(out, id, handle, md, gmo, buffer));
        match self.reply()? {
            (_, warning, Reply::Get(got)) => {
                *md = got.md;
                *gmo = got.gmo;
                Ok(Got {
                    data: got.data,
                    length: got.length,
                    warning,
                })
            }
            (_, reason, _) => Err(ClientError::Reason(reason)),
        }
    }

    /// MQCMIT.
    ///
    /// # Errors
    /// 2003 backed out instead; the reason the queue manager gives, or 2009: then the outcome is
    /// not known.
    pub fn commit(&mut self) -> Result<(), ClientError> {
        self.call(Hobj(0), &Request::Commit).map(|_| ())
    }

    /// MQBACK.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn backout(&mut self) -> Result<(), ClientError> {
        self.call(Hobj(0), &Request::Back).map(|_| ())
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
    ) -> Result<Inquired, ClientError> {
        let ints = selectors
            .iter()
            .filter(|s| (MQIA_FIRST..=MQIA_LAST).contains(*s));
        let request = InqRequest {
            selectors: selectors.to_vec(),
            int_count: i32::try_from(ints.count()).unwrap_or(i32::MAX),
            char_length: i32::try_from(char_length).unwrap_or(i32::MAX),
        };
        match self.call(handle, &Request::Inq(request))? {
            (_, _, Reply::Inq(inq)) => Ok(Inquired {
                ints: inq.ints,
                chars: inq.chars,
            }),
            _ => Ok(Inquired::default()),
        }
    }

    /// MQSET.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn set(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        ints: &[i32],
        chars: &[u8],
    ) -> Result<(), ClientError> {
        let request = SetRequest {
            selectors: selectors.to_vec(),
            ints: ints.to_vec(),
            chars: chars.to_vec(),
        };
        self.call(handle, &Request::Set(Box::new(request)))
            .map(|_| ())
    }

    /// MQSTAT (type 0): how many asynchronous puts succeeded, gave a warning and failed since it was asked last,
    /// and of the first that failed, or else gave a warning, the reason and the queue. Every put before this call
    /// is counted.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    pub fn stat(&mut self) -> Result<Sts, ClientError> {
        let request = StatRequest {
            kind: 0,
            sts: Sts::default(),
        };
        match self.call(Hobj(0), &Request::Stat(Box::new(request)))? {
            (_, _, Reply::Stat(stat)) => Ok(stat.sts),
            _ => Ok(Sts::default()),
        }
    }

    /// MQDISC: commits and ends the connection.
    ///
    /// # Errors
    /// Those of [`Connection::commit`]; the connection has ended all the same.
    pub fn disconnect(mut self) -> Result<(), ClientError> {
        self.leave()
    }

    /// [`Connection::disconnect`] for an owner that cannot give the connection away. No call works afterwards.
    ///
    /// # Errors
    /// Those of [`Connection::disconnect`].
    pub fn leave(&mut self) -> Result<(), ClientError> {
        let said = match self.call(Hobj(0), &Request::Disc) {
            // A warning of MQDISC, but who asked for a commit has to be told that there was none.
            Ok((_, Reason::BACKED_OUT, _)) => Err(ClientError::Reason(Reason::BACKED_OUT)),
            other => other.map(|_| ()),
        };
        if !self.broken {
            let id = self.id;
            self.transport
                .append(|socket, out| socket.end_conversation(out, id));
            // The verb has been answered; a farewell that does not arrive changes nothing.
            let _ = self.transport.flush();
        }
        self.broken = true;
        said
    }
}
