//! Internet addresses as keys.

use super::{Key, KeyWriter};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// The key is the address as a number. The first byte of the address is the most significant byte
/// of the number.
impl Key for Ipv4Addr {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        u32::from(*self).write_key(to);
    }

    #[inline(always)]
    fn key_number(&self) -> Option<u64> {
        u32::from(*self).key_number()
    }
}

/// The key is the address as a 128-bit number. The first byte of the address is the most
/// significant byte of the number.
impl Key for Ipv6Addr {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        u128::from(*self).write_key(to);
    }
}

/// The key consists of the version number (4 or 6) and the address.
impl Key for IpAddr {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        match self {
            IpAddr::V4(address) => (4u8, address).write_key(to),
            IpAddr::V6(address) => (6u8, address).write_key(to),
        }
    }
}

/// The key consists of the address and the port.
impl Key for SocketAddrV4 {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        (self.ip(), self.port()).write_key(to);
    }
}

/// The key consists of the address, the port, the flow information and the scope identifier.
impl Key for SocketAddrV6 {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        (self.ip(), self.port(), self.flowinfo(), self.scope_id()).write_key(to);
    }
}

/// The key consists of the version number (4 or 6), followed by the parts of the [`SocketAddrV4`]
/// or [`SocketAddrV6`].
impl Key for SocketAddr {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        match self {
            SocketAddr::V4(address) => (4u8, address).write_key(to),
            SocketAddr::V6(address) => (6u8, address).write_key(to),
        }
    }
}
