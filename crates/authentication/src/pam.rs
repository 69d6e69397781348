//! Passwords by PAM, the system's own door to whatever knows its users.
//!
//! Invariants: the library is loaded when the first password is checked, so that a system without PAM builds and runs
//! everything else; each check has a handle of its own, which ends with it; what a module asks for is answered with the
//! user's password if it asks not to show it, and with nothing otherwise. PAM's own delay of wrong answers is switched
//! off: the queue manager has one, which holds up no thread.
//!
//! Names and numbers: manual pages pam(3), pam_start(3), pam_authenticate(3), pam_acct_mgmt(3), pam_conv(3),
//! pam_fail_delay(3).

#![expect(unsafe_code, reason = "calls a library that is loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::{Library, Symbol};

use crate::{Credentials, Method, Unable};

/// What a version-0 libpam is called.
const LIBRARY: &str = "libpam.so.0";
/// Where services are configured.
const SERVICES: &str = "/etc/pam.d";

const PAM_SUCCESS: c_int = 0;
const PAM_BUF_ERR: c_int = 5;
const PAM_PERM_DENIED: c_int = 6;
const PAM_AUTH_ERR: c_int = 7;
const PAM_USER_UNKNOWN: c_int = 10;
const PAM_MAXTRIES: c_int = 11;
const PAM_NEW_AUTHTOK_REQD: c_int = 12;
const PAM_ACCT_EXPIRED: c_int = 13;
const PAM_CRED_EXPIRED: c_int = 16;
const PAM_CONV_ERR: c_int = 19;

const PAM_USER: c_int = 2;
const PAM_RHOST: c_int = 4;
const PAM_FAIL_DELAY: c_int = 10;

/// Flags of pam_authenticate: no message to anybody, and no empty password.
const PAM_SILENT: c_int = 0x8000;
const PAM_DISALLOW_NULL_AUTHTOK: c_int = 1;

/// Kinds of messages.
const PAM_PROMPT_ECHO_OFF: c_int = 1;
const PAM_ERROR_MSG: c_int = 3;
const PAM_TEXT_INFO: c_int = 4;
/// A module that says more at once is broken.
const PAM_MAX_NUM_MSG: c_int = 32;

#[repr(C)]
struct Message {
    style: c_int,
    text: *const c_char,
}

#[repr(C)]
struct Response {
    text: *mut c_char,
    unused: c_int,
}

type Converse =
    extern "C" fn(c_int, *const *const Message, *mut *mut Response, *mut c_void) -> c_int;
type Delay = extern "C" fn(c_int, c_uint, *mut c_void);

#[repr(C)]
struct Conversation {
    converse: Converse,
    data: *mut c_void,
}

type Handle = *mut c_void;
type Text = *const c_char;
// SAFETY: whoever calls it gives what pam_start(3) asks for.
type Start = unsafe extern "C" fn(Text, Text, *const Conversation, *mut Handle) -> c_int;
// SAFETY: whoever calls it gives what pam_authenticate(3) asks for.
type WithFlags = unsafe extern "C" fn(Handle, c_int) -> c_int;
// SAFETY: whoever calls it gives what pam_set_item(3) asks for.
type SetItem = unsafe extern "C" fn(Handle, c_int, *const c_void) -> c_int;
// SAFETY: whoever calls it gives what pam_get_item(3) asks for.
type GetItem = unsafe extern "C" fn(Handle, c_int, *mut *const c_void) -> c_int;

/// The calls that are needed. They stay valid: the library is never unloaded.
struct Calls {
    start: Start,
    end: WithFlags,
    authenticate: WithFlags,
    account: WithFlags,
    set_item: SetItem,
    get_item: GetItem,
}

/// The library, or why there is none.
fn calls() -> Result<&'static Calls, Unable> {
    static CALLS: OnceLock<Result<Calls, String>> = OnceLock::new();
    let calls = CALLS.get_or_init(|| Calls::load().map_err(|error| error.to_string()));
    calls
        .as_ref()
        .map_err(|why| Unable(format!("PAM is not here: {why}")))
}

impl Calls {
    fn load() -> Result<Calls, libloading::Error> {
        // SAFETY: libpam's initialisers are those of a system library that other programs load in the same way; the
        // library is leaked, so nothing that is taken from it outlives it.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(LIBRARY)? }));
        // SAFETY: the types are those of the calls' declarations in their manual pages.
        unsafe {
            let flags = |name: &[u8]| library.get(name).map(|call: Symbol<'_, WithFlags>| *call);
            Ok(Calls {
                start: *library.get::<Start>(b"pam_start\0")?,
                end: flags(b"pam_end\0")?,
                authenticate: flags(b"pam_authenticate\0")?,
                account: flags(b"pam_acct_mgmt\0")?,
                set_item: *library.get::<SetItem>(b"pam_set_item\0")?,
                get_item: *library.get::<GetItem>(b"pam_get_item\0")?,
            })
        }
    }
}

/// Answers a module's questions: each that is not to be shown is taken for the one for the password.
extern "C" fn converse(
    count: c_int,
    messages: *const *const Message,
    responses: *mut *mut Response,
    data: *mut c_void,
) -> c_int {
    let Some(number) = usize::try_from(count)
        .ok()
        .filter(|_| (1..=PAM_MAX_NUM_MSG).contains(&count))
    else {
        return PAM_CONV_ERR;
    };
    if messages.is_null() || responses.is_null() || data.is_null() {
        return PAM_CONV_ERR;
    }
    // SAFETY: pam_conv(3): the answers are an array from malloc, which PAM frees with the texts in it; zeros are answers
    // without text.
    let answers = unsafe { libc::calloc(number, size_of::<Response>()) }.cast::<Response>();
    if answers.is_null() {
        return PAM_BUF_ERR;
    }
    let mut result = PAM_SUCCESS;
    for index in 0..number {
        // SAFETY: pam_conv(3): there are `count` pointers to messages; `index` is below that.
        let style = unsafe { (**messages.add(index)).style };
        match style {
            PAM_PROMPT_ECHO_OFF => {
                // SAFETY: `data` is the password that `Transaction::begin` has given, a C string that lives longer than
                // the transaction; the array has room for `count` answers.
                unsafe { (*answers.add(index)).text = libc::strdup(data.cast::<c_char>()) };
            }
            PAM_TEXT_INFO | PAM_ERROR_MSG => {}
            // Nobody is here who could answer.
            _ => result = PAM_CONV_ERR,
        }
    }
    // SAFETY: a place for the array's address, which PAM has given; it frees the array in any case.
    unsafe { *responses = answers };
    result
}

/// In the place of a pause that PAM would make on this thread.
extern "C" fn no_delay(_: c_int, _: c_uint, _: *mut c_void) {}

/// A transaction; it ends when this is dropped.
struct Transaction<'a> {
    calls: &'static Calls,
    handle: Handle,
    result: c_int,
    /// What the conversation refers to.
    _conversation: Box<Conversation>,
    _password: &'a CStr,
}

impl<'a> Transaction<'a> {
    fn begin(service: &str, user: &CStr, password: &'a CStr) -> Result<Transaction<'a>, Unable> {
        let calls = calls()?;
        let service = CString::new(service).map_err(|error| Unable(error.to_string()))?;
        Transaction::begin_by(calls, password, |conversation, handle| {
            // SAFETY: C strings, a conversation that lives as long as the transaction, and a place for the handle.
            unsafe { (calls.start)(service.as_ptr(), user.as_ptr(), conversation, handle) }
        })
    }

    /// `start` is a call of PAM that begins it.
    fn begin_by(
        calls: &'static Calls,
        password: &'a CStr,
        start: impl FnOnce(&Conversation, &mut Handle) -> c_int,
    ) -> Result<Transaction<'a>, Unable> {
        let conversation = Box::new(Conversation {
            converse,
            data: password.as_ptr().cast_mut().cast(),
        });
        let mut handle: Handle = std::ptr::null_mut();
        let result = start(&conversation, &mut handle);
        if result != PAM_SUCCESS || handle.is_null() {
            return Err(Unable(format!("pam_start returned {result}")));
        }
        let mut this = Transaction {
            calls,
            handle,
            result,
            _conversation: conversation,
            _password: password,
        };
        let delay: Delay = no_delay;
        let item = delay as *const c_void;
        // SAFETY: the handle is open; the item is a function of the type that pam_fail_delay(3) gives.
        this.result = unsafe { (calls.set_item)(this.handle, PAM_FAIL_DELAY, item) };
        match this.result {
            PAM_SUCCESS => Ok(this),
            result => Err(Unable(format!("pam_set_item returned {result}"))),
        }
    }

    /// Has modules know where the user comes from (pam_set_item(3), PAM_RHOST): some count wrong passwords by it, or let in
    /// by it.
    fn comes_from(&mut self, host: &CStr) -> Result<(), Unable> {
        let item = host.as_ptr().cast();
        // SAFETY: the handle is open; pam_set_item(3): this item is a C string, of which PAM keeps a copy.
        self.result = unsafe { (self.calls.set_item)(self.handle, PAM_RHOST, item) };
        match self.result {
            PAM_SUCCESS => Ok(()),
            result => Err(Unable(format!("pam_set_item returned {result}"))),
        }
    }

    /// Whether the password is right, and the user may be used now.
    fn run(&mut self) -> Result<bool, Unable> {
        let flags = PAM_SILENT | PAM_DISALLOW_NULL_AUTHTOK;
        for (call, name) in [
            (self.calls.authenticate, "pam_authenticate"),
            (self.calls.account, "pam_acct_mgmt"),
        ] {
            // SAFETY: the handle is open.
            self.result = unsafe { call(self.handle, flags) };
            match self.result {
                PAM_SUCCESS => {}
                PAM_AUTH_ERR | PAM_USER_UNKNOWN | PAM_MAXTRIES | PAM_PERM_DENIED
                | PAM_NEW_AUTHTOK_REQD | PAM_ACCT_EXPIRED | PAM_CRED_EXPIRED => return Ok(false),
                other => return Err(Unable(format!("{name} returned {other}"))),
            }
        }
        Ok(true)
    }

    /// As whom PAM knows the user: modules may write the name otherwise.
    fn user(&mut self) -> Result<String, Unable> {
        let mut item: *const c_void = std::ptr::null();
        // SAFETY: the handle is open; a place for the item's address.
        self.result = unsafe { (self.calls.get_item)(self.handle, PAM_USER, &mut item) };
        if self.result != PAM_SUCCESS || item.is_null() {
            return Err(Unable(format!("pam_get_item returned {}", self.result)));
        }
        // SAFETY: pam_get_item(3): this item is a C string that lives as long as the handle.
        let name = unsafe { CStr::from_ptr(item.cast::<c_char>()) };
        let name = name.to_str().map_err(|error| Unable(error.to_string()))?;
        Ok(name.to_owned())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and is not used again.
        unsafe { (self.calls.end)(self.handle, self.result) };
    }
}

/// Asks PAM.
#[derive(Clone, Debug)]
pub struct Pam {
    services: &'static [&'static str],
}

impl Pam {
    /// By the first of these services that is configured in `/etc/pam.d`; if none is, by the last.
    pub fn new(services: &'static [&'static str]) -> Pam {
        Pam { services }
    }

    fn service(&self) -> &'static str {
        let configured = |service: &&&str| Path::new(SERVICES).join(service).exists();
        let found = self.services.iter().find(configured);
        found.or(self.services.last()).copied().unwrap_or("other")
    }
}

impl Method for Pam {
    fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable> {
        // No name and no password has such a byte.
        let Ok(user) = CString::new(credentials.user.as_str()) else {
            return Ok(None);
        };
        let mut password = zeroize::Zeroizing::new(credentials.secret.to_vec());
        password.push(0);
        let Ok(password) = CStr::from_bytes_with_nul(&password) else {
            return Ok(None);
        };
        let mut transaction = Transaction::begin(self.service(), &user, password)?;
        if let Some(from) = credentials.from {
            let host = CString::new(from.to_string()).map_err(|error| Unable(error.to_string()))?;
            transaction.comes_from(&host)?;
        }
        match transaction.run()? {
            true => transaction.user().map(Some),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(service: &'static [&'static str], user: &str, password: &str) -> Option<String> {
        let password = password.as_bytes().to_vec().into();
        match Pam::new(service).check(&Credentials::new(user, password)) {
            Ok(answer) => answer,
            Err(unable) => panic!("{unable}"),
        }
    }

    fn is_here() -> bool {
        let here = calls().is_ok() && Path::new(SERVICES).is_dir();
        if !here {
            eprintln!("not tested: there is no PAM here");
        }
        here
    }

    /// As pam_start, with services that are configured in a folder of their own.
    // SAFETY: whoever calls it gives what pam_start(3) asks for, and a folder.
    type StartIn = unsafe extern "C" fn(
        *const c_char,
        *const c_char,
        *const Conversation,
        *const c_char,
        *mut Handle,
    ) -> c_int;

    const SCRIPT: &str = "#!/bin/sh\n[ \"$PAM_USER\" = alice ] && [ \"$PAM_RHOST\" != 192.0.2.9 ] \\\n\
        && [ \"$(cat | tr -d '\\0')\" = right ]\n";

    /// A password is right when a program in the place of a directory says so.
    #[test]
    fn a_service_hears_the_user_and_the_password() {
        use std::os::unix::fs::PermissionsExt;
        // SAFETY: as in `Calls::load`.
        let library = unsafe { Library::new(LIBRARY) };
        let Some((library, calls)) = library.ok().zip(calls().ok()) else {
            eprintln!("not tested: there is no PAM here");
            return;
        };
        // SAFETY: the type is that of the call's declaration in its manual page.
        let start = unsafe { library.get::<StartIn>(b"pam_start_confdir\0") };
        let Ok(start) = start else {
            eprintln!("not tested: PAM here is older than 1.4");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("directory");
        std::fs::write(&script, SCRIPT).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
        let service = format!(
            "auth [success=1 default=ignore] pam_exec.so quiet expose_authtok {}\n\
             auth requisite pam_deny.so\n\
             auth required pam_permit.so\n\
             account required pam_permit.so\n",
            script.display()
        );
        std::fs::write(folder.path().join("ibmmq"), service).unwrap();
        let folder = CString::new(folder.path().to_str().unwrap()).unwrap();
        let answer_from = |host: Option<&CStr>, user: &CStr, password: &CStr| {
            let mut transaction = Transaction::begin_by(calls, password, |conversation, handle| {
                let service = c"ibmmq".as_ptr();
                // SAFETY: as in `Transaction::begin`; the folder is a C string.
                unsafe {
                    start(
                        service,
                        user.as_ptr(),
                        conversation,
                        folder.as_ptr(),
                        handle,
                    )
                }
            });
            let transaction = transaction.as_mut().unwrap();
            if let Some(host) = host {
                transaction.comes_from(host).unwrap();
            }
            let right = transaction.run().unwrap();
            (right, transaction.user().unwrap())
        };
        let answer = |user: &CStr, password: &CStr| answer_from(None, user, password);
        let from = |host: &CStr| answer_from(Some(host), c"alice", c"right").0;
        assert!(from(c"192.0.2.8") && !from(c"192.0.2.9"));
        assert_eq!(answer(c"alice", c"right"), (true, "alice".to_owned()));
        assert!(!answer(c"alice", c"wrong").0);
        assert!(!answer(c"bob", c"right").0);
    }

    #[test]
    fn nobody_is_let_in_with_a_password_that_is_wrong() {
        if !is_here() {
            return;
        }
        for user in ["root", "no-such-user-here", "", "with\0in"] {
            assert_eq!(check(&["login"], user, "wrong"), None, "{user:?}");
        }
        assert_eq!(check(&["login"], "root", "with\0in"), None);
        // What no file configures, the service "other" does, which denies.
        assert_eq!(check(&["no-such-service"], "root", "wrong"), None);
    }
}
