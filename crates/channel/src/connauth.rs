//! Connection authentication: what CONNAUTH demands of applications, and who finds out.
//!
//! Invariants: what is demanded is read when the queue manager starts and when [`ConnAuth::refresh`] is asked, and not in
//! between, as in MQ; what cannot be read, or not be carried out here, closes the queue manager to clients instead of
//! opening it. Passwords are looked at on threads of the checker's own, and nowhere else.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_authentication::{
    Asked, Asking, Checker, Credentials, Directory, DirectorySettings, Loopback, Method, Pam, Seal,
    Seals, SecretKind, TokenSettings, Tokens, UserFile, Verdict, user_name,
};
use posthaste_command::{AUTHENMD_USERFILE, Attrs, ObjectKind};
use posthaste_engine::{Operator, QueueManager};
use posthaste_env::Clock;
use posthaste_mqi::constants::{
    MQADPCTX_YES, MQAUTHENTICATE_PAM, MQCA_AUTH_INFO_CONN_NAME, MQCA_CONN_AUTH,
    MQCA_LDAP_BASE_DN_USERS, MQCA_LDAP_SHORT_USER_FIELD, MQCA_LDAP_USER_ATTR_FIELD,
    MQCA_LDAP_USER_NAME, MQCA_LDAP_USER_OBJECT_CLASS, MQCHK_NONE, MQCHK_OPTIONAL, MQCHK_REQUIRED,
    MQCHK_REQUIRED_ADMIN, MQIA_ADOPT_CONTEXT, MQIA_AUTHENTICATION_FAIL_DELAY,
    MQIA_AUTHENTICATION_METHOD, MQIA_CHECK_CLIENT_BINDING, MQIA_CHECK_LOCAL_BINDING,
    MQIA_LDAP_SECURE_COMM, MQSECCOMM_ANON, MQSECCOMM_NO,
};
use posthaste_net::Host;

/// Services of PAM, by AUTHENMD: the first that is configured counts.
const PAM_SERVICES: &[&str] = &["ibmmq", "login"];
const OS_SERVICES: &[&str] = &["login"];
/// Why a token is nobody's where none are taken.
const NO_ISSUERS: &str = "qm.ini names no issuer that is trusted (stanza AuthToken)";

/// Of whom a password is demanded: CHCKCLNT and CHCKLOCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// NONE: nobody, and none is looked at.
    None,
    /// OPTIONAL: nobody; one that is given has to be right.
    Optional,
    /// REQDADM: users who administer.
    Administrators,
    /// REQUIRED: everybody.
    Required,
}

impl Check {
    fn read(attrs: &Attrs, selector: i32) -> Check {
        match attrs.int(selector) {
            MQCHK_NONE => Check::None,
            MQCHK_OPTIONAL => Check::Optional,
            MQCHK_REQUIRED_ADMIN => Check::Administrators,
            MQCHK_REQUIRED => Check::Required,
            // There is no other.
            _ => Check::Required,
        }
    }
}

/// What the authentication information object that CONNAUTH names demands.
#[derive(Clone)]
pub(crate) struct Checks {
    /// Its name.
    pub(crate) object: String,
    /// CHCKCLNT.
    pub(crate) client: Check,
    /// CHCKLOCL.
    pub(crate) local: Check,
    /// ADOPTCTX(YES).
    pub(crate) adopt: bool,
    /// FAILDLAY.
    delay: Duration,
    /// What knows the passwords.
    method: Arc<dyn Method>,
    /// What knows the issuers of tokens, if any are trusted.
    tokens: Option<Arc<Tokens>>,
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("object", &self.object)
            .finish_non_exhaustive()
    }
}

/// What is demanded.
#[derive(Clone, Debug, Default)]
pub(crate) enum Policy {
    /// CONNAUTH is blank.
    #[default]
    Unchecked,
    /// What this says.
    Checked(Checks),
    /// It cannot be carried out, for this reason.
    Broken(String),
}

#[cfg(test)]
impl Checks {
    pub(crate) fn test(client: Check, local: Check, adopt: bool) -> Checks {
        Checks {
            object: "AUTH".to_owned(),
            client,
            local,
            adopt,
            delay: Duration::ZERO,
            method: Arc::new(UserFile::new("")),
            tokens: None,
        }
    }
}

/// Where a queue manager looks for what AUTHINFO objects do not say.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Its own users, for AUTHENMD(USERFILE).
    pub users: PathBuf,
    /// The password of LDAPUSER, in the first line.
    pub directory_password: PathBuf,
    /// Issuers of tokens; none if tokens are not taken.
    pub tokens: Option<TokenSettings>,
    /// As whom applications run without a password that come over loopback from a process of the user who runs the queue
    /// manager; none if they need one as others do.
    pub loopback_user: Option<String>,
}

/// The number of the user whose process has made a connection, if it has one, when the kernel has told.
pub(crate) type AskingMaker = Asking<io::Result<Option<u32>>>;

/// What the connections of a queue manager have in common: what is demanded, and the threads that find out.
pub struct ConnAuth {
    qm: QueueManager,
    operator: Arc<dyn Operator>,
    sources: Sources,
    checker: Checker,
    /// Asks the names of this machine's users; apart from passwords, so that neither holds the other up.
    users_here: Checker,
    /// Asks the kernel whose connections over loopback are: it answers at once, whoever else is slow.
    kernel: Checker,
    seals: Seals,
    policy: Mutex<Arc<Policy>>,
    /// Names of users of this machine, by their numbers.
    names: Mutex<HashMap<u32, String>>,
}

impl fmt::Debug for ConnAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnAuth")
    }
}

impl ConnAuth {
    /// For a queue manager, with so many threads for passwords. What CONNAUTH
    /// names and cannot be used is told to the operator, and closes the queue manager to clients.
    ///
    /// # Errors
    /// The system gives no thread or no random bytes.
    pub fn start(
        qm: QueueManager,
        operator: Arc<dyn Operator>,
        sources: Sources,
        clock: Arc<dyn Clock>,
        threads: usize,
    ) -> io::Result<Arc<ConnAuth>> {
        let this = ConnAuth {
            checker: Checker::start(threads, Arc::clone(&clock))?,
            users_here: Checker::start(1, Arc::clone(&clock))?,
            kernel: Checker::start(1, clock)?,
            seals: Seals::new().map_err(io::Error::other)?,
            policy: Mutex::new(Arc::new(Policy::Unchecked)),
            names: Mutex::default(),
            qm,
            operator,
            sources,
        };
        let policy = this.read().unwrap_or_else(Policy::Broken);
        *this.policy.lock() = Arc::new(policy);
        Ok(Arc::new(this))
    }

    /// Reads again what CONNAUTH names: it is demanded of whoever connects from now on.
    ///
    /// # Errors
    /// It cannot be used. What was demanded before still is; if that was nothing, the queue manager is closed to clients.
    pub fn refresh(&self) -> Result<(), String> {
        let read = self.read();
        let mut policy = self.policy.lock();
        match &read {
            Ok(new) => *policy = Arc::new(new.clone()),
            Err(_) if matches!(**policy, Policy::Checked(_)) => {}
            Err(why) => *policy = Arc::new(Policy::Broken(why.clone())),
        }
        read.map(|_| ())
    }

    /// What is demanded now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.lock())
    }

    fn read(&self) -> Result<Policy, String> {
        let name = self
            .qm
            .read_object(ObjectKind::Qmgr, self.qm.name(), |attrs| {
                attrs.name(MQCA_CONN_AUTH).to_owned()
            });
        let name = name.unwrap_or_default();
        if name.is_empty() {
            return Ok(Policy::Unchecked);
        }
        let checks = self.read_object(&name);
        checks.map(Policy::Checked).inspect_err(|why| {
            let name = self.qm.name().to_owned();
            self.operator.message("AMQ2604E", &[name, why.clone()]);
        })
    }

    fn read_object(&self, name: &str) -> Result<Checks, String> {
        if let Some(object) = self.qm.object(ObjectKind::AuthIdpwOs, name) {
            return self.checks(name, &object.attrs, self.of_system(&object.attrs));
        }
        if let Some(object) = self.qm.object(ObjectKind::AuthIdpwLdap, name) {
            let directory = self.directory(&object.attrs)?;
            return self.checks(name, &object.attrs, Arc::new(directory));
        }
        Err(format!(
            "CONNAUTH names {name}, and there is no AUTHINFO of AUTHTYPE(IDPWOS) or (IDPWLDAP) with this name"
        ))
    }

    fn directory(&self, attrs: &Attrs) -> Result<Directory, String> {
        let text = |selector: i32| attrs.name(selector).to_owned();
        let tls = match attrs.int(MQIA_LDAP_SECURE_COMM) {
            MQSECCOMM_NO => false,
            MQSECCOMM_ANON => true,
            _ => return Err("SECCOMM(YES) is not in this release; SECCOMM(ANON) uses TLS without a certificate of the queue manager".to_owned()),
        };
        Directory::new(DirectorySettings {
            servers: text(MQCA_AUTH_INFO_CONN_NAME),
            tls,
            user: text(MQCA_LDAP_USER_NAME),
            password: self.sources.directory_password.clone(),
            base: text(MQCA_LDAP_BASE_DN_USERS),
            class: text(MQCA_LDAP_USER_OBJECT_CLASS),
            field: text(MQCA_LDAP_USER_ATTR_FIELD),
            short: text(MQCA_LDAP_SHORT_USER_FIELD),
        })
    }

    fn of_system(&self, attrs: &Attrs) -> Arc<dyn Method> {
        match attrs.int(MQIA_AUTHENTICATION_METHOD) {
            AUTHENMD_USERFILE => Arc::new(UserFile::new(&self.sources.users)),
            MQAUTHENTICATE_PAM => Arc::new(Pam::new(PAM_SERVICES)),
            _ => Arc::new(Pam::new(OS_SERVICES)),
        }
    }

    fn checks(&self, name: &str, attrs: &Attrs, method: Arc<dyn Method>) -> Result<Checks, String> {
        let seconds = u64::try_from(attrs.int(MQIA_AUTHENTICATION_FAIL_DELAY)).unwrap_or(0);
        let tokens = self.tokens().transpose()?;
        Ok(Checks {
            object: name.to_owned(),
            client: Check::read(attrs, MQIA_CHECK_CLIENT_BINDING),
            local: Check::read(attrs, MQIA_CHECK_LOCAL_BINDING),
            adopt: attrs.int(MQIA_ADOPT_CONTEXT) == MQADPCTX_YES,
            delay: Duration::from_secs(seconds),
            method,
            tokens: tokens.map(Arc::new),
        })
    }

    /// The issuers that are trusted, if any; certificates that are not valid now are told of, and passed over.
    fn tokens(&self) -> Option<Result<Tokens, String>> {
        let settings = self.sources.tokens.as_ref()?;
        let loaded = Tokens::load(settings).inspect(|tokens| {
            for name in tokens.not_valid() {
                let keys = settings.keys.display().to_string();
                self.operator.message("AMQ2606W", &[keys, name.clone()]);
            }
        });
        Some(loaded)
    }

    /// Whether credentials are right; `from` an address, or from this machine; `maker` as [`Credentials::maker`].
    pub(crate) async fn check(
        &self,
        checks: &Checks,
        mut credentials: Credentials,
        from: Option<Host>,
        maker: Option<u32>,
    ) -> Verdict {
        credentials.from = from;
        credentials.maker = maker;
        let method: Arc<dyn Method> = match (credentials.kind, &checks.tokens) {
            (SecretKind::Password, _) => Arc::clone(&checks.method),
            (SecretKind::Token, Some(tokens)) => Arc::clone(tokens) as Arc<dyn Method>,
            (SecretKind::Token, None) => return Verdict::BadToken(NO_ISSUERS),
        };
        let asked = Asked {
            credentials,
            method,
            delay: checks.delay,
        };
        self.checker.check(asked).await
    }

    /// Whether passwords are demanded of clients that administer, and not of all.
    pub(crate) fn asks_administrators(&self) -> bool {
        matches!(&**self.policy.lock(), Policy::Checked(checks) if checks.client == Check::Administrators)
    }

    /// As whom applications of the queue manager's owner run that come over loopback without a password.
    pub(crate) fn loopback_user(&self) -> Option<&str> {
        self.sources.loopback_user.as_deref()
    }

    /// Asks whose process has made a connection; none has one.
    pub(crate) fn ask_maker(&self, loopback: Loopback) -> AskingMaker {
        self.kernel.ask_ahead(move || loopback.owner())
    }

    /// The name of a user of this machine; his number if he has none.
    pub(crate) async fn name_of(&self, number: u32) -> String {
        let known = self.names.lock().get(&number).cloned();
        if let Some(name) = known {
            return name;
        }
        match self.users_here.ask(move || user_name(number)).await {
            Ok(Some(name)) => {
                self.names.lock().insert(number, name.clone());
                name
            }
            // A number is nobody's name, so that this can be mistaken for no other user.
            Ok(None) | Err(_) => number.to_string(),
        }
    }

    /// Stands for credentials that were right.
    pub(crate) fn seal(&self, credentials: &Credentials) -> Option<Seal> {
        self.seals.seal(credentials)
    }

    /// Whether a seal is of these credentials.
    pub(crate) fn is_of(&self, seal: &Seal, credentials: &Credentials) -> bool {
        self.seals.is_of(seal, credentials)
    }
}
