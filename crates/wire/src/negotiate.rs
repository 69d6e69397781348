//! How two INITIAL_DATA become one agreement.
//!
//! Two fields agree by themselves, by "the smaller of both": the protocol level and the number of conversations. For
//! the others the client keeps what it proposed unless the answer disputes it (error flag and a bit for the field), and
//! then sends a second INITIAL_DATA that has the disputed values. So [`answer`] disputes exactly the fields whose
//! proposed value we cannot work with, and a second dispute ends the channel. Our own clients ([`OWN`]) take the shorter
//! longest message without being asked again, which would cost every connect a round trip: a client asks for all that
//! there is, and channels allow less.

use posthaste_mqi::{Chars, Name};

use crate::PeerMisbehaved;
use crate::flow::Framing;
use crate::initial::{Form, InitialData, NO_COMPRESSION, NO_MESSAGE_COMPRESSION, dispute};

/// The first protocol level at which conversations can share a socket.
const FAP_SHARING: u8 = 9;
/// The first protocol level whose INITIAL_DATA must have a password protection list.
const FAP_PROTECTION: u8 = 13;
/// The highest protocol level offered: from 13 on password protection would be asked for.
pub const FAP_LEVEL: u8 = 12;
/// What the products of IBM's clients for Java begin with: `MQJB`, the base classes, and `MQJM`, JMS.
const JAVA: &[u8] = b"MQJ";

/// What the product of our own clients begins with.
pub const OWN: &[u8] = b"PHCL";
/// The least transmission size that makes sense: headers, MQMD and options in one segment.
pub const MIN_TRANSMISSION: u32 = 1_024;

/// What this side of a channel can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Highest protocol level, at most [`FAP_LEVEL`].
    pub fap_level: u8,
    /// Most conversations on one socket (SHARECNV); 0 for no sharing.
    pub conversations: u32,
    /// Coded character set of our text.
    pub ccsid: u16,
    /// Heartbeat interval in seconds (HBINT); the longer of both sides' intervals is used.
    pub heartbeat_s: u32,
    /// Longest segment we take and send.
    pub max_transmission: u32,
    /// Longest message (MAXMSGL).
    pub max_message: u32,
    /// Our queue manager's name.
    pub q_mgr: Name,
    /// Our queue manager's identifier.
    pub q_mgr_id: Name,
    /// Product and version in twelve characters.
    pub product: Chars<12>,
    /// Our process.
    pub process_id: u32,
}

/// What both sides agreed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreement {
    /// Protocol level.
    pub fap_level: u8,
    /// Most conversations on the socket; 0: it is not shared and has one, with `TSH ` headers.
    pub conversations: u32,
    /// Longest segment, header included.
    pub max_transmission: u32,
    /// Longest message.
    pub max_message: u32,
    /// Heartbeat interval in seconds; 0 for none.
    pub heartbeat_s: u32,
    /// Coded character set of text in the segments.
    pub ccsid: u16,
    /// The channel.
    pub channel: Chars<20>,
    /// The queue manager asked for (server side) or answering (client side).
    pub q_mgr: Name,
    /// The peer's product and version.
    pub product: Chars<12>,
    /// The peer's process.
    pub process_id: u32,
    /// The peer's thread.
    pub thread_id: u32,
}

impl Agreement {
    /// Whether the peer reads a character beyond the Basic Multilingual Plane in the strings of structures only as two surrogates
    /// of three bytes each.
    pub fn reads_surrogates(&self) -> bool {
        self.product.as_bytes().starts_with(JAVA)
    }

    /// What writers of segments need of it.
    pub fn framing(&self) -> Framing {
        Framing {
            shared: self.conversations > 0,
            max_transmission: usize::try_from(self.max_transmission).unwrap_or(usize::MAX),
            ccsid: self.ccsid,
        }
    }
}

/// Our answer to the client's INITIAL_DATA, and the agreement if nothing is disputed.
pub fn answer(
    client: &InitialData,
    offer: &Offer,
) -> Result<(InitialData, Option<Agreement>), PeerMisbehaved> {
    if client.fap_level == 0 {
        return Err(PeerMisbehaved::FapLevelWrong(client.fap_level));
    }
    if client.max_transmission < MIN_TRANSMISSION {
        return Err(PeerMisbehaved::TransmissionSizeWrong(
            client.max_transmission,
        ));
    }
    let mut answer = settle(client, offer);
    for (disputed, bit) in [
        (
            answer.max_transmission != client.max_transmission,
            dispute::TRANSMISSION_SIZE,
        ),
        (
            answer.max_message != client.max_message && !takes_shorter(client),
            dispute::MESSAGE_SIZE,
        ),
        (answer.heartbeat_s != client.heartbeat_s, dispute::HEARTBEAT),
    ] {
        answer.error_flags |= if disputed { bit } else { 0 };
    }
    for (disputed, bit) in [
        (
            client.header_compression != NO_COMPRESSION,
            dispute::HEADER_COMPRESSION,
        ),
        (
            client.message_compression != NO_MESSAGE_COMPRESSION,
            dispute::MESSAGE_COMPRESSION,
        ),
    ] {
        answer.error_flags2 |= if disputed { bit } else { 0 };
    }
    if answer.error_flags != 0 || answer.error_flags2 != 0 {
        return Ok((answer, None));
    }
    let agreement = Agreement {
        fap_level: answer.fap_level,
        conversations: answer.conversations,
        max_transmission: answer.max_transmission,
        max_message: answer.max_message,
        heartbeat_s: answer.heartbeat_s,
        ccsid: answer.ccsid,
        channel: client.channel,
        q_mgr: client.q_mgr,
        product: client.product,
        process_id: client.process_id,
        thread_id: client.thread_id,
    };
    Ok((answer, Some(agreement)))
}

/// Whether a client takes the answer's longest message if that is the shorter one.
fn takes_shorter(client: &InitialData) -> bool {
    client.max_message > 0 && client.product.as_bytes().starts_with(OWN)
}

/// The values we want, field by field.
fn settle(client: &InitialData, offer: &Offer) -> InitialData {
    let fap_level = client.fap_level.min(offer.fap_level);
    let shares = fap_level >= FAP_SHARING && client.form >= Form::Medium;
    let max_message = match client.max_message {
        0 => offer.max_message, // it leaves the choice to us
        asked => asked.min(offer.max_message),
    };
    InitialData {
        form: client.form.min(Form::Medium),
        fap_level,
        max_transmission: client.max_transmission.min(offer.max_transmission),
        max_message,
        heartbeat_s: client.heartbeat_s.max(offer.heartbeat_s),
        conversations: if shares {
            client.conversations.min(offer.conversations)
        } else {
            0
        },
        channel: client.channel,
        ccsid: offer.ccsid,
        sequence_wrap: client.sequence_wrap,
        batch_size: client.batch_size,
        key_reset: client.key_reset,
        q_mgr: offer.q_mgr,
        q_mgr_id: offer.q_mgr_id,
        product: offer.product,
        process_id: offer.process_id,
        ..InitialData::default()
    }
}

/// The client's second INITIAL_DATA after a disputed answer.
pub fn adjust(first: &InitialData, answer: &InitialData) -> Result<InitialData, PeerMisbehaved> {
    let mut second = first.clone();
    let disputed = |bit: u8| answer.error_flags & bit != 0;
    if disputed(dispute::SEQUENCE_WRAP) || answer.error_flags2 & dispute::KEY_RESET != 0 {
        return Err(PeerMisbehaved::NegotiationWrong);
    }
    if disputed(dispute::TRANSMISSION_SIZE) {
        second.max_transmission = answer.max_transmission;
    }
    if disputed(dispute::FAP_LEVEL) {
        second.fap_level = answer.fap_level;
    }
    if disputed(dispute::MESSAGE_SIZE) {
        second.max_message = answer.max_message;
    }
    if disputed(dispute::HEARTBEAT) {
        second.heartbeat_s = answer.heartbeat_s;
    }
    if answer.error_flags2 & dispute::HEADER_COMPRESSION != 0 {
        second.header_compression = answer.header_compression;
    }
    if answer.error_flags2 & dispute::MESSAGE_COMPRESSION != 0 {
        second.message_compression = answer.message_compression;
    }
    second.q_mgr_id = answer.q_mgr_id;
    Ok(second)
}

/// What the client takes as agreed from an undisputed answer to its `proposal`.
pub fn conclude(proposal: &InitialData, answer: &InitialData) -> Result<Agreement, PeerMisbehaved> {
    let fap_level = answer.fap_level;
    if fap_level == 0 || fap_level > proposal.fap_level || fap_level >= FAP_PROTECTION {
        return Err(PeerMisbehaved::FapLevelWrong(fap_level));
    }
    if answer.conversations > proposal.conversations {
        return Err(PeerMisbehaved::NegotiationWrong);
    }
    let shares = fap_level >= FAP_SHARING && answer.form >= Form::Medium;
    Ok(Agreement {
        fap_level,
        conversations: if shares { answer.conversations } else { 0 },
        max_transmission: proposal.max_transmission,
        max_message: match answer.max_message {
            0 => proposal.max_message,
            stated => stated.min(proposal.max_message),
        },
        heartbeat_s: proposal.heartbeat_s,
        ccsid: answer.ccsid,
        channel: proposal.channel,
        q_mgr: answer.q_mgr,
        product: answer.product,
        process_id: answer.process_id,
        thread_id: answer.thread_id,
    })
}
