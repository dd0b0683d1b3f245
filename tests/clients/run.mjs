// Runs the JavaScript clients against a gateway in front of the shop.
//
//   node run.mjs            every client over HTTP and stdio; one line each
//   node run.mjs stop PID   a listener over HTTP, which must see its stream end well when PID is told to stop
//
// Reads GATEWAY_URL, BACKEND_URL, SEZZLEE_BIN and SHOP_DOCUMENT from the environment.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Checks, checkGateway } from './checks.mjs';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const PATIENCE_MS = 30_000;
const INFO = { name: 'client-runs', version: '0' };

const setting = name => process.env[name] ?? fail(`${name} is not set`);
const fail = why => {
    throw new Error(why);
};
const installed = name =>
    JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

const stdioCommand = document => ({
    command: setting('SEZZLEE_BIN'),
    args: ['serve', '--stdio', document, '--base-url', setting('BACKEND_URL'), '--allow-private'],
    stderr: 'inherit'
});

/** Waits for a promise, but not for ever. */
function within(promise, what) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what}: nothing within ${PATIENCE_MS} ms`)), PATIENCE_MS);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The new client, in one era. */
async function modernPackage(transport, mode, version) {
    const checks = new Checks();
    const client = new Client(INFO, mode === 'legacy' ? {} : { versionNegotiation: { mode } });
    const faults = [];
    client.onerror = error => faults.push(error);
    await within(client.connect(transport), 'connect');
    checks.equal(client.getNegotiatedProtocolVersion(), version, 'the revision');
    checks.equal(client.getServerVersion()?.name, 'sezzlee', 'the name of the server');
    checks.equal(client.getServerCapabilities(), { tools: { listChanged: true } }, 'the capabilities');
    await checkGateway(checks, {
        listTools: () => client.listTools(),
        callTool: (params, options) => client.callTool(params, options),
        timedOut: error => /tim(ed )?out/i.test(error.message)
    });
    if (version === MODERN) {
        const asked = { toolsListChanged: true, promptsListChanged: true };
        const subscription = await within(client.listen(asked), 'listen');
        checks.equal(subscription.honoredFilter, { toolsListChanged: true }, 'what is listened for');
        await subscription.close();
        checks.equal(await within(subscription.closed, 'close'), 'local', 'closed by the client');
    } else {
        checks.equal(await client.ping(), {}, 'ping');
    }
    await within(client.close(), 'close');
    // A request that was given up in the handshake era stays open until the client is closed.
    const unexpected = faults.filter(fault => fault.name !== 'AbortError');
    checks.equal(unexpected.map(String), [], 'nothing the client complains of');
    return checks.count;
}

/** The SDK before it was split, which knows the handshake era only. */
async function oldPackage(transport) {
    const checks = new Checks();
    const client = new OldClient(INFO);
    await within(client.connect(transport), 'connect');
    checks.equal(client.getServerVersion()?.name, 'sezzlee', 'the name of the server');
    checks.equal(await client.ping(), {}, 'ping');
    await checkGateway(checks, {
        listTools: () => client.listTools(),
        callTool: (params, options) => client.callTool(params, undefined, options),
        timedOut: error => error.code === -32001
    });
    await within(client.close(), 'close');
    return checks.count;
}

/** A document that changes: the listener hears of the reload once, and finds what is new. */
async function reload() {
    const checks = new Checks();
    const folder = mkdtempSync(join(tmpdir(), 'client-runs-'));
    const document = join(folder, 'notes.json');
    const write = names => {
        const paths = Object.fromEntries(
            names.map(name => [`/${name}`, { get: { operationId: name, responses: { 200: { description: 'Done.' } } } }])
        );
        writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info: { title: 'Notes', version: '1' }, paths }));
    };
    try {
        write(['notes']);
        const transport = new StdioClientTransport(stdioCommand(document));
        const client = new Client(INFO, { versionNegotiation: { mode: { pin: MODERN } } });
        await within(client.connect(transport), 'connect');
        let told = 0;
        let heard;
        client.setNotificationHandler('notifications/tools/list_changed', () => {
            told += 1;
            heard();
        });
        const subscription = await within(client.listen({ toolsListChanged: true }), 'listen');
        const total = async () => {
            const result = await client.callTool({ name: 'search_tools', arguments: {} });
            return JSON.parse(result.content[0].text).total;
        };
        const generation = async () => {
            const { tools } = await client.listTools();
            return tools[0]._meta['sezzlee/catalogGeneration'];
        };
        checks.equal(await total(), 1, 'one operation');
        checks.equal(await generation(), 0, 'the first generation');
        for (const [swaps, names] of [[1, ['notes', 'tags']], [2, ['notes', 'tags', 'users']]]) {
            const change = new Promise(resolve => (heard = resolve));
            write(names);
            process.kill(transport.pid, 'SIGHUP');
            await within(change, 'the notification of a reload');
            checks.equal(await total(), names.length, 'what the new generation holds');
            checks.equal(await generation(), swaps, 'the next generation');
            checks.equal(told, swaps, 'one notification a swap');
        }
        await subscription.close();
        await within(client.close(), 'close');
    } finally {
        rmSync(folder, { recursive: true });
    }
    return checks.count;
}

/** A stream that is open while the server is told to stop. */
async function stop(pid) {
    const checks = new Checks();
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await within(client.connect(new StreamableHTTPClientTransport(new URL(setting('GATEWAY_URL')))), 'connect');
    checks.equal(client.getNegotiatedProtocolVersion(), MODERN, 'the revision');
    const subscription = await within(client.listen({ toolsListChanged: true }), 'listen');
    process.kill(pid, 'SIGTERM');
    checks.equal(await within(subscription.closed, 'the end of the stream'), 'graceful', 'ended with its result');
    await client.close();
    return checks.count;
}

async function report(what, run) {
    const count = await run();
    if (count === 0) fail(`${what}: no check was made`);
    console.log(`ok: ${what}: ${count} checks`);
}

const NEW = `@modelcontextprotocol/client ${installed('@modelcontextprotocol/client')}`;
const OLD = `@modelcontextprotocol/sdk ${installed('@modelcontextprotocol/sdk')}`;
if (process.argv[2] === 'stop') {
    await report(`${NEW}, graceful stop`, () => stop(Number(process.argv[3])));
} else {
    const gateway = new URL(setting('GATEWAY_URL'));
    const shop = setting('SHOP_DOCUMENT');
    for (const [mode, version] of [[{ pin: MODERN }, MODERN], ['auto', MODERN], ['legacy', LEGACY]]) {
        const named = mode.pin ? 'pinned' : mode;
        const http = new StreamableHTTPClientTransport(gateway);
        await report(`${NEW}, HTTP, ${named}`, () => modernPackage(http, mode, version));
        const stdio = new StdioClientTransport(stdioCommand(shop));
        await report(`${NEW}, stdio, ${named}`, () => modernPackage(stdio, mode, version));
    }
    await report(`${OLD}, HTTP`, () => oldPackage(new OldHttp(gateway)));
    await report(`${OLD}, stdio`, () => oldPackage(new OldStdio(stdioCommand(shop))));
    await report(`${NEW}, stdio, reload`, reload);
}
