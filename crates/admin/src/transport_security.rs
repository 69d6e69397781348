//! What definitions of channels say of TLS: refused where no connection could ever meet it.
//!
//! Invariant: what is refused here would be refused to each client that connects, too; so it holds for definitions of
//! earlier releases, which nobody has checked.

use posthaste_chlauth::PeerPattern;
use posthaste_command::{Attrs, Reply};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQCACH_SSL_CIPHER_SPEC, MQCACH_SSL_PEER_NAME};
use posthaste_tls::Allowed;

/// The refusal of a definition with these attributes, if they name a CipherSpec that is none, or a pattern of names
/// that cannot be read (DEFINE CHANNEL: SSLCIPH, SSLPEER).
pub(crate) fn refusal(name: &str, attrs: &Attrs) -> Option<Reply> {
    let given = |selector| {
        let given = attrs.get(selector).is_some();
        let text = attrs.name(selector);
        Some(text).filter(|text| given && !text.is_empty())
    };
    if let Some(cipher) = given(MQCACH_SSL_CIPHER_SPEC)
        && Allowed::parse(cipher).is_err()
    {
        let inserts = [name.to_owned(), cipher.to_owned()];
        let reason = Reason::CCF_SSL_CIPHER_SPEC_ERROR;
        return Some(Reply::failed("AMQ8242E", &inserts, reason));
    }
    let peer = given(MQCACH_SSL_PEER_NAME)?;
    let error = PeerPattern::parse(peer).err()?;
    let inserts = [name.to_owned(), peer.to_owned(), error.to_string()];
    Some(Reply::failed(
        "AMQ8243E",
        &inserts,
        Reason::CCF_SSL_PEER_NAME_ERROR,
    ))
}
