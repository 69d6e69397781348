//! Profiles of authority records, each with names that it matches and does not match.

use super::Seeds;

/// Seeds of the target `authority`.
pub fn authority() -> Seeds {
    [
        ("exact", "DEV.QUEUE.1\nDEV.QUEUE.1\nDEV.QUEUE.2"),
        ("characters", "DEV.?UEUE.*\nDEV.QUEUE.1\nDEV.QUEUE.1.2"),
        ("leading", "**.AB*\nAB\nX.ABC\nX.CAB"),
        ("middle", "A.**.B\nA.B\nA.X.Y.B\nA.XB"),
        ("following", "DEV.**\nDEV\nDEV.A.B\nDEVX"),
        ("everything", "**\nA\nA.B"),
    ]
    .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
    .into()
}
