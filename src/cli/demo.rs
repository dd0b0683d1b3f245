//! `sezzlee demo`: an embedded shop, the gateway in front of it, and what to try.

use std::sync::Arc;

use clap::Args;
use url::Url;

use super::Ended;
use super::catalogue;
use super::gateway::Gateway;
use super::output::line;
use super::serve::runtime;
use crate::config::{AnswerArgs, CallArgs, ListenArgs, SourceArgs};
use crate::demo;
use crate::mcp;
use crate::tools::Generations;

/// Serve the demo shop.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// The gateway's port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    answers: AnswerArgs,
    /// Seconds a call may take, body included; 0 for no limit.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    deadline: f64,
}

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<Ended> {
    runtime()?.block_on(async {
        let shop = demo::start(demo::Settings {
            clock: demo::Clock::new(crate::clock::now),
            ..demo::Settings::default()
        })
        .await?;
        let base_url = Url::parse(&shop.base_url())?;
        let source = SourceArgs {
            sources: Vec::new(),
            base_url: Some(base_url),
            ..SourceArgs::default()
        };
        let loaded = catalogue::load_text("shop", demo::DOCUMENT, &source)?;
        let operations = loaded.reader.len();
        let generations = Arc::new(Generations::new(loaded.reader));
        let listen = ListenArgs {
            listen: (std::net::Ipv4Addr::LOCALHOST, args.port).into(),
            ..ListenArgs::default()
        };
        let calls = CallArgs {
            deadline: args.deadline,
            ..CallArgs::default()
        };
        let gateway = Gateway::new(
            &generations,
            &listen,
            &args.answers,
            &calls,
            &source.outbound(),
        )?;
        let bound = gateway.bind()?;
        gateway.catch_stops()?;
        line(&what_to_try(
            &format!("http://{}{}", bound.addr(), mcp::PATH),
            &shop.base_url(),
            operations,
        ))?;
        gateway.serve(bound).await?;
        shop.stop().await;
        anyhow::Ok(())
    })?;
    Ok(Ended::Well)
}

/// Three calls with curl, and how a client is told.
fn what_to_try(gateway: &str, backend: &str, operations: u32) -> String {
    let call = |tool: &str, arguments: &str| {
        format!(
            "curl -s {gateway} -H 'content-type: application/json' -d \
             '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}'"
        )
    };
    format!(
        "A shop with {operations} operations is served. Stop it with Ctrl-C.\n\
         \n\
         gateway: {gateway}\n\
         backend: {backend}\n\
         \n\
         1. Find operations:\n   {}\n\
         2. Read one:\n   {}\n\
         3. Call it:\n   {}\n\
         \n\
         Add it to an MCP client that speaks Streamable HTTP:\n   \
         {{\"mcpServers\": {{\"shop\": {{\"type\": \"http\", \"url\": \"{gateway}\"}}}}}}\n",
        call("search_tools", "{\"query\":\"cancel order\",\"limit\":5}"),
        call("load_tool", "{\"name\":\"list_orders\"}"),
        call(
            "invoke_tool",
            "{\"name\":\"list_orders\",\"arguments\":{\"limit\":2}}"
        ),
    )
}
