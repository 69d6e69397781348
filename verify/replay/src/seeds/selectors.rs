//! Selectors that between them have every word and sign of the language.

use super::Seeds;

/// Seeds of `selector`.
pub fn selector() -> Seeds {
    [
        ("terms", "color = 'blue' AND amount > 1000"),
        (
            "headers",
            "JMSPriority >= 5 OR NOT JMSMessageID = 'ID:414d51'",
        ),
        ("descriptor", "Root.MQMD.MsgId = \"0x0AFC23\""),
        ("arithmetic", "-(a + 0x10) * 2.5e1 / wmq.b.c - 017L <> 7."),
        (
            "between",
            "n BETWEEN 1 AND 9 AND m NOT BETWEEN -1.5 AND .5f",
        ),
        ("like", "x LIKE '\\_%' ESCAPE '\\' OR y NOT LIKE '%it''s_%'"),
        (
            "in",
            "c IN ('UK', 'US') AND d NOT IN ('') AND e IS NOT NULL",
        ),
        (
            "whole",
            "a = 5 AND 5 = bb AND ccc = 9007199254740993 AND bb = 5.0",
        ),
        ("text", "xy = 'a_b%c'"),
        ("nested", "((((TRUE)) OR (FALSE)) <= 1 AND NOT f IS NULL)"),
    ]
    .map(|(name, text)| (name.to_owned(), text.into()))
    .into()
}
