//! USERID_DATA and CONAUTH_INFO: who the client says it is.
//!
//! Invariant: a password is erased from memory when what holds it is dropped, and never shown.

use std::fmt;

use posthaste_mqi::{ByteOrder, Chars};
use zeroize::Zeroizing;

use crate::PeerMisbehaved;
use crate::flow::Envelope;
use crate::input::Input;
use crate::segment::{Flags, SegmentType};

/// Longest user identifier and password in CONAUTH_INFO that are taken (MQCSP allows 1024 and 256).
const MAX_CREDENTIAL: u32 = 1_024;
/// Bytes of CONAUTH_INFO in front of the user, where it knows of no token.
const WITHOUT_TOKEN: u64 = 24;
/// Authentication types: user identifier and password; a token.
const USER_AND_PASSWORD: u32 = 1;
const TOKEN: u32 = 2;

/// USERID_DATA: the user of the client's process, or the application's user where MQCSP is not used.
#[derive(Clone, PartialEq, Eq)]
pub struct Userid {
    /// User, upper case.
    pub user: Chars<12>,
    /// Password; blank unless the application gave it outside MQCSP.
    pub password: Zeroizing<[u8; 12]>,
    /// The user as it is.
    pub long_user: Chars<64>,
}

impl fmt::Debug for Userid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Userid")
            .field("user", &self.user)
            .field("long_user", &self.long_user)
            .finish_non_exhaustive()
    }
}

impl Userid {
    /// Reads the body.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<Userid, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::UseridData);
        let read = |input: &mut Input<'_>| {
            input.eye_catcher(b"UID ")?;
            Ok(Userid {
                user: input.chars()?,
                password: Zeroizing::new(input.array()?),
                long_user: input.chars()?,
            })
        };
        read(&mut input).map_err(|_: PeerMisbehaved| PeerMisbehaved::UseridMalformed)
    }

    /// Writes the segment.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope) {
        let mut writer = envelope.begin(out, SegmentType::UseridData, Flags::NONE);
        writer.bytes(b"UID ");
        writer.bytes(self.user.as_bytes());
        writer.bytes(&self.password[..]);
        writer.bytes(self.long_user.as_bytes());
        writer.bytes(&[0; 40]);
        writer.finish();
    }

    /// The user, in its long form if there is one.
    pub fn name(&self) -> String {
        let long = self.long_user.text();
        if long.is_empty() {
            self.user.text().into_owned()
        } else {
            long.into_owned()
        }
    }
}

/// CONAUTH_INFO: user and password of MQCSP, or its token.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Authentication {
    /// User identifier.
    pub user: Vec<u8>,
    /// Password, in clear.
    pub password: Zeroizing<Vec<u8>>,
    /// Token; empty where user and password are given.
    pub token: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authentication")
            .field("user", &String::from_utf8_lossy(&self.user))
            .finish_non_exhaustive()
    }
}

/// Whether the lengths of user and password are the last: clients before 9.3.4 know of no token. What they write may be padded to a
/// multiple of four bytes.
fn ends_with(body: &[u8], user: u32, password: u32) -> bool {
    let lengths = u64::from(user) + u64::from(password);
    let left = (body.len() as u64).checked_sub(WITHOUT_TOKEN + lengths);
    left.is_some_and(|left| left < 4)
}

impl Authentication {
    /// Reads the body, in the form of any version of clients.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<Authentication, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::ConauthInfo);
        let read = |input: &mut Input<'_>| {
            input.eye_catcher(b"CAUT")?;
            let kind = input.u32()?;
            let _user_max = input.u32()?;
            let _password_max = input.u32()?;
            let (user, password) = (input.u32()?, input.u32()?);
            let token = match kind == USER_AND_PASSWORD && ends_with(body, user, password) {
                true => 0,
                false => {
                    let _token_max = input.u32()?;
                    input.u32()?
                }
            };
            let fits = match kind {
                USER_AND_PASSWORD => token == 0,
                // Whether it is too long is for whoever judges tokens to say.
                TOKEN => user == 0 && password == 0 && token > 0,
                _ => false,
            };
            if !fits || user > MAX_CREDENTIAL || password > MAX_CREDENTIAL {
                return Err(PeerMisbehaved::AuthenticationMalformed);
            }
            let mut take = |length: u32| {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                input.take(length).map(<[u8]>::to_vec)
            };
            Ok(Authentication {
                user: take(user)?,
                password: Zeroizing::new(take(password)?),
                token: Zeroizing::new(take(token)?),
            })
        };
        read(&mut input).map_err(|_| PeerMisbehaved::AuthenticationMalformed)
    }

    /// Writes the segment.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope) {
        let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut writer = envelope.begin(out, SegmentType::ConauthInfo, Flags::NONE);
        writer.bytes(b"CAUT");
        writer.u32(match self.token.is_empty() {
            true => USER_AND_PASSWORD,
            false => TOKEN,
        });
        for _maximum_then_actual in 0..2 {
            writer.u32(length(&self.user));
            writer.u32(length(&self.password));
        }
        for _maximum_then_actual in 0..2 {
            writer.u32(length(&self.token));
        }
        writer.bytes(&self.user);
        writer.bytes(&self.password);
        writer.bytes(&self.token);
        writer.finish();
    }
}
