//! A password on its way to a queue manager.
//!
//! Invariant: it is erased from memory when what holds it is dropped, and never shown.

use std::fmt;

use zeroize::Zeroizing;

/// See the head of this file.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Of a text, which is taken over.
    pub fn new(text: Zeroizing<String>) -> Password {
        Password(text)
    }

    /// As it is sent.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Password {
        Password(Zeroizing::new(text.to_owned()))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Connect};

    #[test]
    fn it_does_not_show() {
        let address = Address::Tcp {
            host: "h".to_owned(),
            port: 1,
        };
        let connect = Connect {
            password: Some(Password::from("s3cret")),
            ..Connect::new(address, "CH", "QM1")
        };
        let shown = format!("{connect:?}");
        assert!(
            shown.contains("Password") && !shown.contains("s3cret"),
            "{shown}"
        );
        // By its type: what holds it erases it.
        let Password(text) = Password::from("s3cret");
        let _: Zeroizing<String> = text;
    }
}
