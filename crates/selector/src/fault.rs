//! What is wrong with a text that is no selector, and where.

/// A text that is no selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {at}")]
pub struct Error {
    /// What is wrong.
    pub fault: Fault,
    /// Where, in bytes from the beginning.
    pub at: usize,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Longer than [`LONGEST`](crate::LONGEST).
    #[error("the text is too long")]
    TooLong,
    /// More parentheses in each other than [`DEEPEST`](crate::DEEPEST).
    #[error("parentheses are nested too deep")]
    TooDeep,
    /// Nothing in the language begins with this character.
    #[error("this character means nothing here")]
    Character,
    /// A string without end.
    #[error("the string does not end")]
    OpenString,
    /// No number, or too large a one.
    #[error("this is no number")]
    Number,
    /// A byte string that is none.
    #[error("this is no byte string")]
    Bytes,
    /// A name that no property can have.
    #[error("no property can have this name")]
    Name,
    /// Something else should stand here.
    #[error("something else is expected")]
    Unexpected,
    /// An operator that the operand's type has not got.
    #[error("this type has no such operator")]
    Type,
    /// ESCAPE with other than one character, or that escapes nothing.
    #[error("this escape is not one character in front of another")]
    Escape,
}
