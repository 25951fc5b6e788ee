// node-redlock 5 on ioredis 5: acquires and releases distinct resources with a given number in
// flight, and prints the figures as one line of JSON, like lock_client. Its packages must be in the
// folder that NODE_PATH names.
//
// Settings: ioredis defaults, with `enableAutoPipelining` if --pipelining is given (commands of one
// turn of the event loop are sent together); redlock defaults. One connection per node.
"use strict";
const { parseArgs } = require("node:util");
const Redis = require("ioredis").default;
const Redlock = require("redlock").default;

const { values } = parseArgs({
    options: {
        node: { type: "string", multiple: true },
        concurrency: { type: "string", default: "256" },
        length: { type: "string", default: "1000" },
        "warm-up": { type: "string", default: "200" },
        latency: { type: "boolean", default: false },
        pipelining: { type: "boolean", default: false },
    },
});

const state = { counting: false, stopping: false, locks: 0, acquireUs: [], cycleUs: [] };

async function work(redlock, name) {
    while (!state.stopping) {
        const asked = performance.now();
        const lock = await redlock.acquire([name], 10000);
        const acquired = performance.now();
        await lock.release();
        if (!state.counting) continue;
        ++state.locks;
        if (values.latency) {
            state.acquireUs.push((acquired - asked) * 1000);
            state.cycleUs.push((performance.now() - asked) * 1000);
        }
    }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function measure() {
    await pause(Number(values["warm-up"]));
    state.counting = true;
    const begin = performance.now();
    const cpuBegin = process.cpuUsage();
    await pause(Number(values.length));
    state.counting = false;
    state.stopping = true;
    const cpu = process.cpuUsage(cpuBegin);
    return {
        locks: state.locks,
        seconds: (performance.now() - begin) / 1000,
        cpu_seconds: (cpu.user + cpu.system) / 1e6,
    };
}

function addQuantiles(figures, name, all) {
    if (all.length === 0) return;
    all.sort((a, b) => a - b);
    const quantile = (part) => all[Math.floor(part * (all.length - 1))];
    figures[name + "_p50"] = quantile(0.5);
    figures[name + "_p99"] = quantile(0.99);
    figures[name + "_max"] = quantile(1);
}

async function main() {
    const clients = values.node.map(
        (url) => new Redis(url, { enableAutoPipelining: values.pipelining })
    );
    await Promise.all(clients.map((client) => client.ping()));
    const redlock = new Redlock(clients);
    const workers = [];
    for (let i = 0; i < Number(values.concurrency); ++i) workers.push(work(redlock, "bench:" + i));
    const figures = await measure();
    await Promise.all(workers);
    addQuantiles(figures, "acquire_us", state.acquireUs);
    addQuantiles(figures, "cycle_us", state.cycleUs);
    console.log(JSON.stringify(figures));
    await Promise.all(clients.map((client) => client.quit()));
}

main().catch((error) => {
    console.error("node_redlock: " + error);
    process.exit(2);
});
