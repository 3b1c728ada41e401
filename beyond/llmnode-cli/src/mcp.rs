//! MCP servers that the command starts as programs, whose tools graphs may use.

use std::error::Error;

use llmnode_graph::Registry;

use crate::args::Options;

/// The servers that were started.
#[derive(Default)]
pub(crate) struct Servers {
    #[cfg(feature = "mcp")]
    started: Vec<llmnode_mcp::McpServer>,
}

#[cfg(feature = "mcp")]
impl Servers {
    /// All tools need an approval but those that the person named: a server's own hints are not a reason.
    pub(crate) async fn connect(
        &mut self,
        mut registry: Registry,
        options: &Options,
    ) -> Result<Registry, Box<dyn Error>> {
        let allowed = &options.mcp_allow;
        for command in &options.mcp {
            let (name, command) = match command.split_once('=') {
                // A program's path may have a `=`, too.
                Some((name, command)) if !name.contains([' ', '/', '\\']) => (Some(name), command),
                _ => (None, command.as_str()),
            };
            let mut words = command.split_whitespace();
            let program = words.next().ok_or("--mcp: which program?")?;
            // The page and the terminal pass its questions on.
            let mcp = llmnode_mcp::Mcp::stdio(program, words).asks();
            let mcp = name.map_or(mcp.clone(), |name| mcp.clone().name(name));
            let server = mcp.require_approval_for_all_but(allowed).connect().await?;
            registry = registry.tools(server.tools());
            self.started.push(server);
        }
        let names: Vec<String> = self.notes().into_iter().map(|(name, _)| name).collect();
        match allowed.iter().find(|name| !names.contains(name)) {
            None => Ok(registry),
            Some(name) => Err(format!(
                "--mcp-allow {name:?}: there is no such tool; there are: {}",
                names.join(", ")
            )
            .into()),
        }
    }

    /// What the servers say about their tools.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        self.started
            .iter()
            .flat_map(llmnode_mcp::McpServer::hints)
            .collect()
    }

    pub(crate) async fn close(&self) {
        for server in &self.started {
            server.close().await;
        }
        // One that was just being started ends when its task is dropped.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[cfg(not(feature = "mcp"))]
impl Servers {
    pub(crate) async fn connect(
        &mut self,
        registry: Registry,
        options: &Options,
    ) -> Result<Registry, Box<dyn Error>> {
        match options.mcp[..] {
            [] => Ok(registry),
            _ => Err("--mcp is not in this build: install llmnode-cli with --features mcp".into()),
        }
    }

    #[cfg(feature = "serve")]
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    pub(crate) async fn close(&self) {}
}
