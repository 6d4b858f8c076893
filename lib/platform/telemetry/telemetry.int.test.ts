import { beforeAll, expect, test, vi } from "vitest";
import { privateKeyToAddress } from "viem/accounts";
import { inSpan } from "@/lib/core/tracing";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { serveApi } from "@/lib/dev/testing/http";
import {
  startOtlpCollector,
  type CollectedSpan,
  type OtlpCollector,
} from "@/lib/dev/testing/otlp-collector";
import { testAccount } from "@/lib/dev/testing/factories";
import { startTracing } from "./otlp";
import { afterFile } from "@/lib/dev/testing/after-file";

const [HERE, THERE, DEAD] = [31337, 31338, 31339];
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER_SPAN = "00f067aa0ba902b7";
const COLLECTOR_KEY = "key-of-the-collector";
const TOKEN = "a-token-for-reading-metrics";
const WAIT = { timeout: 20_000, interval: 50 };
/** Longer than the time for which any sample is cached. */
const LATER_MS = 61_000;

const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const recipient = testAccount().address;

let collector: OtlpCollector;
let api: TestApi;
let url: string;
let customer: Customer;
let before: (series: string) => number;
let waiting: (series: string) => number;
let after: (series: string) => number;
/** The metrics that were read after the transfer. */
let text = "";
let operationId = "";

const read = async (): Promise<(series: string) => number> => {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  text = await response.text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const values = new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(" ")),
      Number(line.slice(line.lastIndexOf(" ") + 1)),
    ]),
  );
  return (series) => values.get(series) ?? 0;
};

const readLater = async (): Promise<(series: string) => number> => {
  moved.ms += LATER_MS;
  return read();
};

const execute = (transferId: string): Promise<Response> =>
  fetch(`${url}/swap/execute`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${customer.session.accessToken}`,
      traceparent: `00-${TRACE_ID}-${CALLER_SPAN}-01`,
    },
    body: JSON.stringify({ transferId }),
  });

/**
 * A payout of five rows of which two are paid, and a mail.
 * @returns a function that removes them before a worker sees them
 */
const leaveWaiting = async (projectId: string): Promise<() => Promise<void>> => {
  const { prisma } = api.services.database;
  const id = "po_waiting";
  const at = { createdAt: clock.now(), updatedAt: clock.now() };
  const rows = {
    itemsTotal: 5,
    itemsCompleted: 1,
    itemsFailed: 1,
    totalBase: 5,
    digest: Buffer.alloc(32),
  };
  const state = {
    sourceAccountId: "acc",
    currency: "usdc",
    kind: "global_accounts",
    mode: "independent",
    status: "processing",
    subStatus: "queued",
  };
  await prisma.payout.create({
    data: { id, projectId, createdBy: "test", ...state, ...rows, ...at },
  });
  await prisma.job.create({ data: { id, queue: "payout", runAt: clock.now() } });
  const mail = { to: "somebody@example.org", subject: "s", text: "t", createdAt: clock.now() };
  await prisma.mailOutbox.create({ data: { projectId, id: "mail", ...mail } });
  return async () => {
    await prisma.job.delete({ where: { id } });
    await prisma.mailOutbox.deleteMany({ where: { projectId } });
  };
};

/** Two concurrent commands of the ledger, so that they share a batch. */
const postToLedger = async (projectId: string): Promise<void> => {
  const { ledger } = api.services;
  const common = { projectId, by: "test" };
  const accountId = await ledger.openAccount({ ...common, currency: "usdc", key: "account" });
  const amount = {
    to: accountId,
    amountBase: 10n ** 18n,
    currency: "usdc",
    liabilitiesMaxBase: null,
  };
  await Promise.all(["a", "b"].map((key) => ledger.fund({ ...common, ...amount, key })));
};

beforeAll(async () => {
  collector = await startOtlpCollector();
  const headers = { "x-collector-key": COLLECTOR_KEY };
  const tracing = await startTracing({
    endpoint: collector.url,
    headers,
    serviceName: "causeway",
    exportEveryMs: 50,
  });
  afterFile(() => tracing.stop());
  afterFile(() => collector.close());
  const variables = { METRICS_TOKEN: TOKEN, [`RPC_URL_${String(DEAD)}`]: "http://127.0.0.1:9" };
  api = await testApi({ variables, overrides: { clock } });
  url = await serveApi(api.services);
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: HERE, token: "USDC", amount: "50" });
  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: customer.treasuryId,
    toAddress: recipient,
    fromChainId: HERE,
    toChainId: THERE,
    token: "USDC",
    amount: "12.345678",
  });
  before = await read();
  const response = await execute(transferId);
  expect(response.status).toBe(202);
  ({ operationId } = (await response.json()) as { operationId: string });
  const { projectId } = await api.services.database.prisma.operation.findUniqueOrThrow({
    where: { id: operationId },
  });
  const drop = await leaveWaiting(projectId);
  waiting = await readLater();
  await drop();
  const worker = startWorker(api.services);
  afterFile(() => worker.stop());
  await waitUntilFinal(client, operationId);
  await postToLedger(projectId);
  const ended = 'causeway_operation_duration_seconds_count{kind="transfer",status="completed"}';
  // The turn of the job ends after the operation.
  const turn = 'causeway_job_turn_duration_seconds_count{queue="operation",outcome="done"}';
  await vi.waitFor(async () => {
    const now = await read();
    expect([ended, turn].map((series) => now(series) - before(series))).toEqual([1, 1]);
  }, WAIT);
  after = await readLater();
}, 120_000);

/** The increase of a series over the transfer. */
const grown = (series: string): number => after(series) - before(series);

test("an accepted operation shows with its kind, state, legs and job, and is gone when it has ended", () => {
  const [operation, age] = ["causeway_operations", "causeway_operation_oldest_seconds"];
  const labels = '{kind="transfer",state="pending"}';
  expect(waiting(operation + labels)).toBe(1);
  expect(text).toContain("# TYPE causeway_operation_oldest_seconds gauge");
  expect(waiting('causeway_operation_legs{phase="queued",provider="onchain"}')).toBe(1);
  expect(waiting('causeway_jobs{queue="operation",state="due"}')).toBe(1);
  expect(waiting('causeway_job_lag_seconds{queue="operation"}')).toBeGreaterThanOrEqual(0);
  expect(after(operation + labels)).toBe(0);
  expect(after(age + labels)).toBe(0);
  expect(after('causeway_jobs{queue="operation",state="due"}')).toBe(0);
  expect(
    grown('causeway_job_turn_duration_seconds_count{queue="operation",outcome="done"}'),
  ).toBe(1);
});

test("payouts under way and mails in the outbox show with their age", () => {
  expect(waiting('causeway_payouts_open{kind="global_accounts"}')).toBe(1);
  expect(waiting('causeway_payout_rows_waiting{kind="global_accounts"}')).toBe(3);
  expect(waiting("causeway_mail_waiting")).toBe(1);
  expect(after('causeway_payouts_open{kind="global_accounts"}')).toBe(0);
  expect(after("causeway_mail_waiting")).toBe(0);
});

test("requests are counted by route pattern, method and class of the status", () => {
  expect(
    grown(
      'causeway_http_request_duration_seconds_count{method="POST",path="/swap/execute",status="2xx"}',
    ),
  ).toBe(1);
  expect(text).not.toContain('status="202"');
  expect(text).not.toContain(operationId);
});

test("calls to chains, signatures and batches of the ledger are measured", () => {
  expect(
    grown(`causeway_rpc_duration_seconds_count{chain="${String(HERE)}",outcome="ok"}`),
  ).toBeGreaterThan(0);
  expect(
    grown(
      `causeway_rpc_requests_total{chain="${String(THERE)}",method="eth_call",outcome="ok"}`,
    ),
  ).toBeGreaterThan(0);
  expect(
    grown('causeway_signer_duration_seconds_count{action="sign_typed_data",outcome="ok"}'),
  ).toBe(1);
  expect(
    grown('causeway_signer_duration_seconds_count{action="sign_transaction",outcome="ok"}'),
  ).toBeGreaterThan(0);
  expect(grown("causeway_ledger_batch_commands_sum")).toBe(2);
  expect(grown("causeway_ledger_batch_duration_seconds_count")).toBeGreaterThan(0);
});

test("coins for network fees, reserves, connections and the process itself have gauges", async () => {
  const { executorPrivateKey } = api.services.config;
  const address = privateKeyToAddress(executorPrivateKey ?? "0x");
  const wei = await api.services.registry.client(THERE).getBalance({ address });
  expect(after(`causeway_executor_balance_coins{chain="${String(THERE)}"}`)).toBeCloseTo(
    Number(wei) / 1e18,
    1,
  );
  expect(after(`causeway_paymaster_deposit_coins{chain="${String(HERE)}"}`)).toBeGreaterThan(0);
  const connections = (state: string): number =>
    after(`causeway_database_connections{pool="shared",state="${state}"}`);
  expect(connections("used") + connections("idle")).toBeGreaterThanOrEqual(1);
  expect(after('causeway_database_connections_max{pool="ledger"}')).toBeGreaterThanOrEqual(1);
  for (const name of [
    "causeway_mail_waiting",
    "process_cpu_seconds_total",
    "causeway_proofs_waiting",
  ])
    expect(text).toContain(`\n${name} `);
});

test("a chain that does not answer shows in errors and in the lag of its head, and hides no other chain", () => {
  const dead = String(DEAD);
  expect(
    grown(
      `causeway_rpc_requests_total{chain="${dead}",method="eth_getBlockByNumber",outcome="unavailable"}`,
    ),
  ).toBeGreaterThan(0);
  expect(grown('causeway_metrics_sampler_errors_total{sampler="heads"}')).toBeGreaterThan(0);
  const lag = `causeway_chain_head_lag_seconds{chain="${dead}"}`;
  expect(grown(lag)).toBeGreaterThanOrEqual(LATER_MS / 1000);
  expect(after(`causeway_chain_head_block{chain="${String(HERE)}"}`)).toBeGreaterThan(0);
});

test("a project whose reserves cannot be read keeps its coverage unsaid", () => {
  // USDC on the unresponsive chain counts as backing too, so the ratio is unknown: 0 would raise an
  // alarm.
  expect(text).not.toContain('causeway_reserve_coverage_ratio{asset="USDC"}');
});

test("no label holds an id, an address or a hash", () => {
  const values = [...text.matchAll(/[a-z_]+="([^"]*)"/g)].map(([, value]) => value ?? "");
  expect(values.length).toBeGreaterThan(100);
  const unbounded =
    /0x[0-9a-f]{8}|[0-9a-f]{24}|\b[a-z]{2,5}_(?=[a-z]*\d)[0-9a-z]{16}|[0-9a-f]{8}-[0-9a-f]{4}-/i;
  expect(unbounded.test(operationId)).toBe(true);
  expect(values.filter((value) => unbounded.test(value))).toEqual([]);
});

const attribute = (span: CollectedSpan, key: string): unknown => {
  const found = span.attributes.find((each) => each.key === key)?.value;
  return found?.stringValue ?? found?.intValue;
};

const spansOfTrace = (): readonly CollectedSpan[] =>
  collector.spans.filter(({ traceId }) => traceId === TRACE_ID);

/** The names of the span's ancestors, the nearest first. */
const ancestors = (span: CollectedSpan): string[] => {
  const parent = spansOfTrace().find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [] : [parent.name, ...ancestors(parent)];
};

const someSpan = (name: string): Promise<CollectedSpan> =>
  vi.waitFor(() => {
    const found = spansOfTrace().find((span) => span.name.startsWith(name));
    if (found === undefined) throw new Error(`No span ${name} of the trace was exported.`);
    return found;
  }, WAIT);

test("one trace leads from the caller's request over the job to the leg's end", async () => {
  const request = await someSpan("POST /swap/execute");
  expect(request.parentSpanId).toBe(CALLER_SPAN);
  expect(attribute(request, "http.response.status_code")).toBe(202);
  expect(ancestors(await someSpan("swaps.execute"))).toEqual(["POST /swap/execute"]);
  const insert = await someSpan("sql INSERT operation");
  expect(ancestors(insert)).toContain("POST /swap/execute");
  const job = await someSpan("job operation");
  expect(attribute(job, "causeway.job_id")).toBe(operationId);
  expect(ancestors(job).at(-1)).toBe("POST /swap/execute");
  for (const name of [
    "leg queued",
    "leg submitted",
    "rpc eth_",
    "signer sign_transaction",
    "sql UPDATE operation_leg",
  ]) {
    const span = await someSpan(name);
    const way = ancestors(span);
    expect([name, way.at(-1)]).toEqual([name, "POST /swap/execute"]);
  }
  const last = await someSpan("leg filled_seen");
  // A span is exported after those within it.
  await vi.waitFor(() => expect(ancestors(last)).toContain("job operation"), WAIT);
});

test("a batch of the ledger is a trace of its own with a link to each request that it serves", async () => {
  const { projectId } = await api.services.database.prisma.operation.findUniqueOrThrow({
    where: { id: operationId },
  });
  const open = (key: string) =>
    inSpan(`caller ${key}`, { parent: null }, async () => {
      const common = {
        projectId,
        by: "test",
        currency: "usdc",
        amountBase: 1n,
        liabilitiesMaxBase: null,
      };
      const to = await api.services.ledger.openAccount({
        projectId,
        by: "test",
        currency: "usdc",
        key: "account",
      });
      await api.services.ledger.fund({ ...common, to, key });
    });
  await open("linked");
  const [caller, batch] = await vi.waitFor(() => {
    const callerSpan = collector.spans.find(({ name }) => name === "caller linked");
    const batchSpan = collector.spans.find(
      ({ name, links = [] }) =>
        name === "ledger batch" && links.some(({ spanId }) => spanId === callerSpan?.spanId),
    );
    if (callerSpan === undefined || batchSpan === undefined)
      throw new Error("The batch was not exported.");
    return [callerSpan, batchSpan];
  }, WAIT);
  expect(batch.traceId).not.toBe(caller.traceId);
  expect(
    collector.spans.some(
      ({ traceId, name }) => traceId === batch.traceId && name.startsWith("sql INSERT"),
    ),
  ).toBe(true);
});

test("spans hold no secret, no code, no key, no address and no amount", async () => {
  await someSpan("leg filled_seen");
  const codes = (await api.services.inbox?.list({ to: customer.email, limit: 100 })) ?? [];
  const { executorPrivateKey, appSecret } = api.services.config;
  const canaries = [
    customer.session.accessToken,
    customer.session.refreshToken,
    customer.email,
    customer.treasury,
    recipient,
    executorPrivateKey ?? "",
    appSecret,
    COLLECTOR_KEY,
    "12.345678",
    "12345678",
  ];
  const attributes = JSON.stringify(
    collector.spans.map(({ name, attributes: own }) => [name, own]),
  ).toLowerCase();
  for (const canary of canaries)
    expect([canary, attributes.includes(canary.toLowerCase())]).toEqual([canary, false]);
  const texts = collector.spans.flatMap(({ attributes: own }) =>
    own.map(({ value }) => value.stringValue ?? ""),
  );
  for (const { code } of codes) if (code !== undefined) expect(texts).not.toContain(code);
  expect(collector.headers()["x-collector-key"]).toBe(COLLECTOR_KEY);
});

test("requests are answered while the collector hangs, and after it has died", async () => {
  const held = collector.hang();
  const ask = async (): Promise<number> => (await fetch(`${url}/chains`)).status;
  const statuses = async (): Promise<number[]> => Promise.all(Array.from({ length: 50 }, ask));
  const failed = 'causeway_trace_exports_total{outcome="failed"}';
  const failedBefore = (await read())(failed);
  expect(new Set(await statuses())).toEqual(new Set([200]));
  await vi.waitFor(() => expect(held()).toBeGreaterThan(0), WAIT);
  expect(new Set(await statuses())).toEqual(new Set([200]));
  collector.close();
  expect(new Set(await statuses())).toEqual(new Set([200]));
  await vi.waitFor(async () => {
    await ask();
    expect((await read())(failed)).toBeGreaterThan(failedBefore);
  }, WAIT);
});
