//! The queue manager QM1 of these tests: small, with the queues of a developer.

use posthaste_server::{Creation, developer_objects, ini};

pub(crate) fn creation() -> Creation {
    Creation {
        name: "QM1".to_owned(),
        shape: ini::Shape {
            file_pages: 64,
            ..ini::Shape::default()
        },
        commands: developer_objects(),
        ..Creation::default()
    }
}
