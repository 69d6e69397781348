//! Who counts as one where somebody is limited or counted by his address.
//!
//! Invariant: everybody is counted by this; a place that compares whole addresses lets a site with very many be very many.

use std::net::IpAddr;

/// What an address is counted by: of IPv6 a site has 64 bits to itself (RFC 4291, "Global Unicast Addresses"), so that all its
/// addresses are one; an address of IPv4 that is written as one of IPv6 is that of IPv4.
pub fn site(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => IpAddr::V6((u128::from(long) >> 64 << 64).into()),
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_a_site_are_one() {
        let site = |text: &str| text.parse().map(site);
        assert_eq!(site("2001:db8::1"), site("2001:db8::ffff:ffff:ffff:ffff"));
        assert_eq!(site("2001:db8::1"), "2001:db8::".parse());
        assert_ne!(site("2001:db8::1"), site("2001:db8:0:1::1"));
        assert_eq!(site("::ffff:192.0.2.9"), "192.0.2.9".parse());
        assert_ne!(site("192.0.2.9"), site("192.0.2.8"));
    }
}
