//! What connections have in common: certificates, who is trusted, and what may be agreed on. One side accepts, the other
//! connects.
//!
//! Invariants: nothing below TLS 1.2, no compression, no renegotiation; a certificate that is shown is always checked,
//! whether or not one is asked for; sessions can be resumed by tickets for as long as the context lives.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openssl::nid::Nid;
use openssl::ssl::{
    Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslSessionCacheMode,
    SslVerifyMode, SslVersion,
};
use openssl::x509::verify::X509VerifyFlags;
use openssl::x509::{X509Ref, X509StoreContextRef};

use crate::certificate::subject;
use crate::cipher_spec::{Allowed, Version};
use crate::failure::Failure;
use crate::key_store::{KeyStore, KeyStoreError, Personal};
use crate::validity::Validity;

/// Groups for the exchange of keys, the cheapest first.
const GROUPS: &str = "X25519:P-256:P-384:P-521";
/// What handshakes are signed with: nothing with SHA-1 or SHA-224, which OpenSSL has at the level below.
const SIGNATURES: &str = "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448:\
    rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:\
    rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512:RSA+SHA256:RSA+SHA384:RSA+SHA512";
/// What Suite B (RFC 6460) leaves at a strength.
struct SuiteB {
    groups: &'static str,
    signatures: &'static str,
    /// Those of the certificates' keys.
    curves: &'static [Nid],
    /// What certificates are signed with.
    signed: &'static [Nid],
    /// What partners' chains are checked for.
    chains: X509VerifyFlags,
}
const SUITE_B_128: SuiteB = SuiteB {
    groups: "P-256:P-384",
    signatures: "ECDSA+SHA256:ECDSA+SHA384",
    curves: &[Nid::X9_62_PRIME256V1, Nid::SECP384R1],
    signed: &[Nid::ECDSA_WITH_SHA256, Nid::ECDSA_WITH_SHA384],
    chains: X509VerifyFlags::SUITEB_128_LOS,
};
const SUITE_B_192: SuiteB = SuiteB {
    groups: "P-384",
    signatures: "ECDSA+SHA384",
    curves: &[Nid::SECP384R1],
    signed: &[Nid::ECDSA_WITH_SHA384],
    chains: X509VerifyFlags::SUITEB_192_LOS,
};

impl SuiteB {
    fn allows(&self, certificate: &X509Ref) -> bool {
        let key = certificate.public_key().and_then(|key| key.ec_key());
        let curve = key.ok().and_then(|key| key.group().curve_name());
        let signed = certificate.signature_algorithm().object().nid();
        curve.is_some_and(|curve| self.curves.contains(&curve)) && self.signed.contains(&signed)
    }

    /// `None` where it is not asked for.
    fn of(bits: Option<u16>) -> Option<&'static SuiteB> {
        bits.map(|bits| match bits {
            ..=128 => &SUITE_B_128,
            _ => &SUITE_B_192,
        })
    }

    /// OpenSSL looks at the partner's certificates only.
    fn check(&self, store: &KeyStore, personal: &Personal) -> Result<(), KeyStoreError> {
        let own = &personal.certificate;
        if self.allows(own) && store.chain(own).iter().all(|issuer| self.allows(issuer)) {
            return Ok(());
        }
        Err(KeyStoreError::SuiteB {
            label: personal.label.clone(),
            curves: self.groups.replace(':', " or "),
        })
    }
}
/// Length of keys and of digests in certificates: at least 112 bits of strength.
const CERTIFICATE_LEVEL: i32 = 2;
/// Tickets that a server hands out after a handshake of TLS 1.3.
const TICKETS: usize = 1;
/// `SSL_OP_CLEANSE_PLAINTEXT`, which the bindings have no name for: OpenSSL overwrites what it has decrypted when it was
/// read, so that passwords are not left in memory that it has freed.
const CLEANSE_PLAINTEXT: SslOptions = SslOptions::from_bits_retain(1 << 1);
/// The one CipherSpec whose tags are so short that OpenSSL wants to be asked for it expressly.
const SHORT_TAGS: &str = "TLS_AES_128_CCM_8_SHA256";

/// The most of a name in a certificate that is kept of one that was refused: anybody writes what he likes into his own.
const LONGEST_SUBJECT: usize = 1_024;

thread_local! {
    /// Whom the certificate is for that was refused last. OpenSSL keeps it nowhere, and calls back on the thread that carries
    /// out the handshake.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Whom the certificate is for that was refused on this thread since this was asked last.
pub(crate) fn refused_subject() -> Option<String> {
    REFUSED.take()
}

/// OpenSSL's judgement of a certificate stands; of one that it refuses it is kept whom it is for.
fn judged(good: bool, chain: &mut X509StoreContextRef) -> bool {
    if !good {
        // The partner's own comes first, whichever of its issuers is to blame.
        let own = chain.chain().and_then(|chain| chain.iter().next());
        REFUSED.set(own.map(|own| {
            let mut name = subject(own);
            name.truncate(name.floor_char_boundary(LONGEST_SUBJECT));
            name
        }));
    }
    good
}

/// What a channel asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// CipherSpecs.
    pub allowed: Allowed,
    /// CERTLABL; `None` for the queue manager's.
    pub label: Option<String>,
}

/// Says what the channel of a name asks for; `None` if there is none, or it asks for no TLS. It is called on threads
/// that carry out handshakes.
pub type TermsOf = Arc<dyn Fn(&str) -> Option<Terms> + Send + Sync>;

/// The accepting side. Clones are the same one.
#[derive(Clone)]
pub struct Acceptor {
    inner: Arc<Named>,
    /// For whoever does not say which channel he wants.
    context: SslContext,
}

/// How a queue manager accepts.
pub struct Accept<'a> {
    /// Its key repository.
    pub store: &'a KeyStore,
    /// CERTLABL; `None` for the label that its name gives.
    pub label: Option<&'a str>,
    /// The label that its name gives.
    pub otherwise: &'a str,
    /// What is offered to whoever does not say which channel he wants.
    pub allowed: Allowed,
    /// The least strength of Suite B in bits, for groups, signatures and certificates; `None` where Suite B is not asked for.
    pub suite_b: Option<u16>,
    /// What the channels ask for.
    pub terms: TermsOf,
}

impl Acceptor {
    /// Prepares.
    ///
    /// # Errors
    /// The store has no such certificate, or OpenSSL does not take what is in it.
    pub fn new(accept: Accept<'_>) -> Result<Acceptor, KeyStoreError> {
        let Accept {
            store,
            label,
            otherwise,
            allowed,
            suite_b,
            terms,
        } = accept;
        let validity = Arc::new(Validity::new(&store.lists()?)?);
        let named = Named {
            validity,
            store: store.clone(),
            label: label.map(str::to_owned),
            otherwise: otherwise.to_owned(),
            suite_b: SuiteB::of(suite_b),
            terms,
            made: Mutex::default(),
        };
        let context = server(
            &named,
            &Terms {
                allowed,
                label: None,
            },
        )?
        .build();
        Ok(Acceptor {
            inner: Arc::new(named),
            context,
        })
    }

    /// What is found out about its clients.
    pub(crate) fn validity(&self) -> &Arc<Validity> {
        &self.inner.validity
    }

    /// A connection whose client has named this channel, or none.
    pub(crate) fn begin(&self, channel: Option<&str>) -> Result<Ssl, Failure> {
        let named = channel.map(|channel| self.inner.of_channel(channel));
        let named = named.transpose();
        let context = named
            .map_err(|error| Failure::NoCertificate(error.to_string()))?
            .flatten();
        let ssl = Ssl::new(context.as_ref().unwrap_or(&self.context));
        let mut ssl = ssl.map_err(|error| Failure::Unable(error.to_string()))?;
        ssl.set_accept_state();
        Ok(ssl)
    }
}

/// Contexts for channels that are asked for by name.
struct Named {
    validity: Arc<Validity>,
    store: KeyStore,
    label: Option<String>,
    otherwise: String,
    suite_b: Option<&'static SuiteB>,
    terms: TermsOf,
    made: Mutex<HashMap<Terms, SslContext>>,
}

impl Named {
    /// What a channel's handshakes use; `None` leaves the choice to the check that follows when the channel's name comes
    /// in its own protocol. No channel is served with another certificate than its own.
    fn of_channel(&self, channel: &str) -> Result<Option<SslContext>, KeyStoreError> {
        let Some(terms) = (self.terms)(channel) else {
            return Ok(None);
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = made.get(&terms) {
            return Ok(Some(context.clone()));
        }
        let context = server(self, &terms)?.build();
        made.insert(terms, context.clone());
        Ok(Some(context))
    }
}

fn server(named: &Named, terms: &Terms) -> Result<SslContextBuilder, KeyStoreError> {
    let label = terms.label.as_deref().or(named.label.as_deref());
    let personal = named.store.personal(label, &named.otherwise)?;
    if let Some(suite_b) = named.suite_b {
        suite_b.check(&named.store, personal)?;
    }
    let (store, allowed) = (&named.store, &terms.allowed);
    let mut builder = either_side(SslMethod::tls_server(), store, allowed, named.suite_b)?;
    builder.set_certificate(&personal.certificate)?;
    for issuer in named.store.chain(&personal.certificate) {
        builder.add_extra_chain_cert(issuer)?;
    }
    builder.set_private_key(&personal.key)?;
    builder.check_private_key()?;
    for authority in named.store.authorities() {
        builder.add_client_ca(authority)?;
    }
    // Whether a channel wants a certificate is known only with its name: everybody is asked, nobody is made to.
    builder.set_verify_callback(SslVerifyMode::PEER, judged);
    builder.set_session_id_context(b"posthaste")?;
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_num_tickets(TICKETS)?;
    builder.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | SslOptions::PRIORITIZE_CHACHA);
    Ok(builder)
}

/// The connecting side.
#[derive(Clone)]
pub struct Connector {
    context: SslContext,
}

/// How a client connects.
pub struct Reach<'a> {
    /// Its key repository.
    pub store: &'a KeyStore,
    /// The label of its certificate; `None` for the one that the user's name gives.
    pub label: Option<&'a str>,
    /// That one. Who has none connects without a certificate.
    pub otherwise: &'a str,
    /// CipherSpecs.
    pub allowed: Allowed,
}

impl Connector {
    /// Prepares.
    ///
    /// # Errors
    /// The store has no certificate of this label, or OpenSSL does not take what is in it.
    pub fn new(reach: Reach<'_>) -> Result<Connector, KeyStoreError> {
        let mut builder = either_side(SslMethod::tls_client(), reach.store, &reach.allowed, None)?;
        let personal = reach.store.personal(reach.label, reach.otherwise);
        match personal {
            Ok(personal) => {
                builder.set_certificate(&personal.certificate)?;
                for issuer in reach.store.chain(&personal.certificate) {
                    builder.add_extra_chain_cert(issuer)?;
                }
                builder.set_private_key(&personal.key)?;
                builder.check_private_key()?;
            }
            Err(error) if reach.label.is_some() => return Err(error),
            Err(_) => {}
        }
        builder.set_verify(SslVerifyMode::PEER);
        Ok(Connector {
            context: builder.build(),
        })
    }

    pub(crate) fn begin(&self, server_name: &str) -> Result<Ssl, openssl::error::ErrorStack> {
        let mut ssl = Ssl::new(&self.context)?;
        ssl.set_connect_state();
        ssl.set_hostname(server_name)?;
        Ok(ssl)
    }
}

fn either_side(
    method: SslMethod,
    store: &KeyStore,
    allowed: &Allowed,
    suite_b: Option<&SuiteB>,
) -> Result<SslContextBuilder, KeyStoreError> {
    let mut builder = SslContextBuilder::new(method)?;
    let (lowest, highest) = match (allowed.has(Version::Tls12), allowed.has(Version::Tls13)) {
        (true, false) => (SslVersion::TLS1_2, SslVersion::TLS1_2),
        (false, true) => (SslVersion::TLS1_3, SslVersion::TLS1_3),
        _ => (SslVersion::TLS1_2, SslVersion::TLS1_3),
    };
    builder.set_min_proto_version(Some(lowest))?;
    builder.set_max_proto_version(Some(highest))?;
    if allowed.has(Version::Tls12) {
        builder.set_cipher_list(&allowed.suites(Version::Tls12))?;
    }
    if allowed.has(Version::Tls13) {
        builder.set_ciphersuites(&allowed.suites(Version::Tls13))?;
    }
    // The level of what is agreed on is the table's; that of certificates stays where it is.
    if allowed.suites(Version::Tls13).contains(SHORT_TAGS) {
        builder.set_security_level(0);
    }
    builder.verify_param_mut().set_auth_level(CERTIFICATE_LEVEL);
    if let Some(suite_b) = suite_b {
        let checks = builder.verify_param_mut();
        checks.set_flags(suite_b.chains)?;
        builder.set_groups_list(suite_b.groups)?;
        builder.set_sigalgs_list(suite_b.signatures)?;
    } else {
        builder.set_groups_list(GROUPS)?;
        builder.set_sigalgs_list(SIGNATURES)?;
    }
    builder.set_options(SslOptions::NO_RENEGOTIATION | SslOptions::NO_COMPRESSION);
    builder.set_options(CLEANSE_PLAINTEXT);
    builder.set_mode(SslMode::RELEASE_BUFFERS);
    builder.set_cert_store(store.trust()?);
    Ok(builder)
}
