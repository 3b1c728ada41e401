//! Addresses of names. Names of this machine are not looked up.
//!
//! The system's resolver, on a thread for things that block, as it has no other
//! form.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tokio::task::JoinHandle;
use tower_service::Service;

use super::address_guard::{PrivateAddress, is_public};
use super::client_error::BoxError;
use super::url::is_localhost;

const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

#[derive(Clone)]
pub(crate) struct Resolver {
    /// Refuses a name if any of its addresses is not public.
    pub(crate) public_only: bool,
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let public_only = self.public_only;
        Box::pin(async move {
            let addresses = addresses(name.as_str()).await?;
            match addresses
                .iter()
                .map(SocketAddr::ip)
                .find(|address| public_only && !is_public(*address))
            {
                Some(address) => Err(PrivateAddress {
                    host: name.as_str().to_owned(),
                    address,
                }
                .into()),
                None => Ok(addresses.into_iter()),
            }
        })
    }
}

/// `localhost` and names below it are this machine, whatever a hosts file says.
async fn addresses(name: &str) -> io::Result<Vec<SocketAddr>> {
    // RFC 6761: no resolver decides where the key goes.
    if is_localhost(name) {
        return Ok(LOOPBACK.to_vec());
    }
    let name = name.to_owned();
    let mut lookup = Lookup(tokio::task::spawn_blocking(move || {
        (name.as_str(), 0).to_socket_addrs()
    }));
    (&mut lookup.0).await?.map(Iterator::collect)
}

/// A dropped lookup takes no thread, unless it has begun: it cannot be interrupted.
struct Lookup<T>(JoinHandle<T>);

impl<T> Drop for Lookup<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_lookup_that_nobody_waits_for_leaves_the_queue() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let (free, wait) = mpsc::channel::<()>();
        runtime.block_on(async {
            let busy = tokio::task::spawn_blocking(move || wait.recv());
            let (began, has_begun) = mpsc::channel();
            drop(Lookup(tokio::task::spawn_blocking(move || began.send(()))));
            drop(free);
            assert!(busy.await.unwrap().is_err());
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            assert!(has_begun.try_recv().is_err());
        });
    }
}
