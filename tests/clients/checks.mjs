// What every JavaScript client must see of the gateway in front of the shop, whatever its version, era and
// transport. Holds no client: it is handed one behind a few functions.

import assert from 'node:assert/strict';

/** Counts checks; a run that made none is a failure of the run. */
export class Checks {
    count = 0;

    equal(actual, expected, what) {
        assert.deepEqual(actual, expected, what);
        this.count += 1;
    }

    ok(condition, what) {
        assert.ok(condition, what);
        this.count += 1;
    }

    async rejects(promise, fits, what) {
        const error = await promise.then(
            () => assert.fail(`${what}: it succeeded`),
            error => error
        );
        assert.ok(fits(error), `${what}: ${error?.code} ${error?.message}`);
        this.count += 1;
        return error;
    }
}

/** The envelope inside a tool result: one text block that holds one JSON object. */
export function envelope(checks, result) {
    checks.equal(result.content.length, 1, 'one content block');
    checks.equal(result.content[0].type, 'text', 'a text block');
    checks.ok(result.structuredContent === undefined, 'no structured content');
    return JSON.parse(result.content[0].text);
}

/**
 * `client` is `{listTools(), callTool(params, options?), timedOut(error)}`; all of it the client's own.
 */
export async function checkGateway(checks, client) {
    const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
    const succeed = async (name, args) => {
        const result = await call(name, args);
        checks.ok(!result.isError, `${name} succeeds: ${result.content[0]?.text?.slice(0, 300)}`);
        return envelope(checks, result);
    };
    const fail = async (name, args, code) => {
        const result = await call(name, args);
        checks.equal(result.isError, true, `${name} fails with ${code}`);
        const body = envelope(checks, result);
        checks.equal(body.error, code, 'the code of the failure');
        return body;
    };

    const { tools } = await client.listTools();
    checks.equal(tools.map(tool => tool.name), ['load_tool', 'search_tools', 'invoke_tool'], 'three tools');
    for (const tool of tools) {
        checks.equal(tool.inputSchema.type, 'object', 'an object schema');
        checks.ok(Number.isInteger(tool._meta['sezzlee/catalogGeneration']), 'a generation');
    }

    const page = await succeed('search_tools', { query: 'list orders', limit: 5 });
    checks.ok(page.total >= page.results.length && page.results.length > 0, 'something is found');
    checks.ok(page.results.some(card => card.name === 'list_orders'), 'the operation is found');

    const definition = await succeed('load_tool', { name: 'list_orders' });
    checks.equal(definition.name, 'list_orders', 'the definition that was asked for');
    checks.ok(/^[0-9a-f]{16}$/.test(definition.version), 'a version');
    await fail('load_tool', { name: 'no_such_operation' }, 'unknown_tool');

    const { version } = definition;
    const called = await succeed('invoke_tool', { name: 'list_orders', arguments: { limit: 2 }, version });
    checks.equal(called.status, 200, 'the status of the backend');
    const other = '0000000000000000';
    await fail('invoke_tool', { name: 'list_orders', arguments: {}, version: other }, 'tool_changed');
    const missing = { order_id: 999999999 };
    await fail('invoke_tool', { name: 'get_order', arguments: missing }, 'not_found');
    await fail('invoke_tool', { name: 'export_orders', arguments: {} }, 'response_too_large');
    await fail('invoke_tool', { name: 'list_orders', arguments: { colour: 'red' } }, 'unknown_argument');

    await checks.rejects(call('create_order', {}), error => error.code === -32602, 'a tool that is none');

    const many = await Promise.all(
        Array.from({ length: 20 }, () => succeed('search_tools', { query: 'invoice' }))
    );
    checks.ok(many.every(one => JSON.stringify(one) === JSON.stringify(many[0])), 'equal answers');

    // The audit takes a minute; who gives up first must not be held up by it.
    const audit = { name: 'run_audit', arguments: {} };
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('given up')), 300);
    await checks.rejects(call('invoke_tool', audit, { signal: abort.signal }), () => true, 'given up');
    await checks.rejects(call('invoke_tool', audit, { timeout: 300 }), client.timedOut, 'timed out');
    await succeed('search_tools', { query: 'audit' });
}
