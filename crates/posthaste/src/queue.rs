//! A queue as the command line names it. A name that is too long is refused, never cut: the queue with
//! the shorter name is another one.

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::MQOD_VERSION_4;
use posthaste_mqi::{Hobj, Name, Od, Reason};

/// Opens a queue.
///
/// # Errors
/// 2152 when the name is not one; otherwise the queue manager's reason.
pub(crate) fn open(
    connection: &mut Connection,
    queue: &str,
    options: i32,
) -> Result<Hobj, ClientError> {
    open_selecting(connection, queue, None, options)
}

/// The same, for those messages only that a selector selects.
///
/// # Errors
/// Those of [`open`], and 2459 for one that is malformed.
pub(crate) fn open_selecting(
    connection: &mut Connection,
    queue: &str,
    selector: Option<&str>,
    options: i32,
) -> Result<Hobj, ClientError> {
    let mut od = Od {
        object_name: name(queue)?,
        ..Od::default()
    };
    if let Some(selector) = selector {
        od.version = MQOD_VERSION_4;
        od.selection_string = selector.to_owned();
    }
    Ok(connection.open_object(&mut od, options)?.value)
}

fn name(text: &str) -> Result<Name, ClientError> {
    Name::try_new(text)
        .filter(|name| !name.is_blank())
        .ok_or(ClientError::Reason(Reason::OBJECT_NAME_ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_fit_are_refused() {
        assert_eq!(name("A.B").unwrap().trimmed(), b"A.B");
        assert!(name(&"X".repeat(48)).is_ok());
        for wrong in ["", "  ", &"X".repeat(49)] {
            let error = name(wrong).unwrap_err();
            assert_eq!(error.reason(), Reason::OBJECT_NAME_ERROR, "{wrong}");
        }
    }
}
