//! The performance laboratory: what measures a queue manager, and what it is measured on.
