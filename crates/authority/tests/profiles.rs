//! Profiles against the plainest way to match them, for any names.

use posthaste_authority::{Profile, fuzzing};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profiles_match_what_their_qualifiers_match(profile in "[AB.*]{1,12}", names in prop::collection::vec("[AB.]{1,12}", 1..8)) {
        let mut input = profile;
        for name in names {
            input.push('\n');
            input.push_str(&name);
        }
        fuzzing::profile(input.as_bytes());
    }

    /// Which of two counts does not depend on a third.
    #[test]
    fn specificity_is_an_order(texts in prop::collection::vec("[AB.*?]{1,8}", 3)) {
        let mut profiles: Vec<Profile> = texts.iter().filter_map(|text| Profile::new(text).ok()).collect();
        profiles.sort_by(Profile::specificity);
        for (at, one) in profiles.iter().enumerate() {
            for other in &profiles[at..] {
                prop_assert!(one.specificity(other).is_le());
            }
        }
    }
}
