import { expect, test, vi } from "vitest";
import { createServices, setServices } from "@/lib/composition";
import { FRESHNESS_COOKIE, FRESHNESS_HEADER } from "@/lib/core/fresh-cache";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer } from "@/lib/dev/testing/funded-customer";
import { serveApi } from "@/lib/dev/testing/http";
import { ownInstallation } from "@/lib/dev/testing/own-installation";
import { pauseReplay, resumeReplay, startStandby } from "@/lib/dev/testing/own-standby";

const WAIT = { timeout: 60_000, interval: 50 };

const { devnet, postgres, one, registry, api } = await ownInstallation({ confirmations: 2 });
await devnet.serve(api.services.config);
const customer = await fundedCustomer(api);
const standby = await startStandby({
  primaryUrl: postgres.ownerUrl,
  backup: await postgres.backUp(),
  dataDir: postgres.elsewhere("replica"),
  isSynchronous: false,
});
let isStopped = false;
const stop = async (): Promise<void> => {
  if (!isStopped) await standby.stop();
  isStopped = true;
};
afterFile(stop);

const services = createServices(
  { ...api.services.config, databaseReplicaUrl: standby.appUrl("causeway") },
  { registry },
);
setServices(services);
afterFile(() => services.close());
const base = await serveApi(services);
const key = (await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" }))
  .secret;

interface Answer<T> {
  readonly body: T;
  readonly headers: Headers;
}

const call = async <T>(
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer<T>> => {
  const method = body === undefined ? "GET" : "POST";
  const sent = { "x-api-key": key, "content-type": "application/json", ...headers };
  const response = await fetch(`${base}${path}`, {
    method,
    headers: sent,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${path}: ${String(response.status)}`).toBe(true);
  return { body: (await response.json()) as T, headers: response.headers };
};

const newAccount = (headers: Record<string, string> = {}) =>
  call<{ id: string }>("/global-accounts", headers, { name: "Ada", currency: "USDC" });

const transfer = (): Promise<Answer<{ operationId: string }>> =>
  call(
    "/swap-and-transfer",
    {},
    {
      ...{
        fromWalletId: customer.treasuryId,
        fromChainId: one.chainId,
        toChainId: one.chainId,
      },
      ...{ fromToken: "USDC", toToken: "USDC", amount: "1", recipient: testAccount().address },
    },
  );

const listed = async (headers: Record<string, string> = {}): Promise<string[]> =>
  (await call<{ data: { id: string }[] }>("/activity", headers)).body.data.map(({ id }) => id);

test("a list may be a little old, never older than what its caller wrote", async () => {
  await vi.waitFor(async () => expect(await services.replica?.has(null)).toBe(true), WAIT);
  await pauseReplay(standby);
  const { body, headers } = await transfer();
  const token = headers.get(FRESHNESS_HEADER) ?? "";
  expect(token).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
  // The replica answers callers without a freshness token.
  expect(await listed()).not.toContain(body.operationId);
  expect(await listed({ [FRESHNESS_HEADER]: token })).toContain(body.operationId);
  expect(await listed({ cookie: `other=1; ${FRESHNESS_COOKIE}=${token}` })).toContain(
    body.operationId,
  );

  await resumeReplay(standby);
  await vi.waitFor(async () => expect(await listed()).toContain(body.operationId), WAIT);
  await vi.waitFor(async () => expect(await services.replica?.has(token)).toBe(true), WAIT);
});

test("a browser gets the token as a cookie that its scripts cannot read", async () => {
  const { headers } = await newAccount({ cookie: "theme=dark" });
  expect(headers.get("set-cookie")).toBe(
    `${FRESHNESS_COOKIE}=${headers.get(FRESHNESS_HEADER) ?? ""}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax`,
  );
  const program = await newAccount();
  expect(program.headers.get("set-cookie")).toBeNull();
});

test("what the replica does not have yet is read from the primary", async () => {
  await pauseReplay(standby);
  const { body } = await newAccount();
  const { body: statement } = await call<{ account: { id: string } }>(
    `/global-accounts/${body.id}/statement`,
  );
  expect(statement.account.id).toBe(body.id);
  await resumeReplay(standby);
});

test("the replica's lag is a metric, which grows while nothing is replayed", async () => {
  const lag = async (): Promise<number> =>
    Number(
      /^causeway_replica_lag_seconds (\S+)$/m.exec(await services.metrics.render())?.[1] ??
        Number.NaN,
    );
  await vi.waitFor(async () => expect(await lag()).toBeLessThan(2), WAIT);
  await pauseReplay(standby);
  await vi.waitFor(async () => expect(await lag()).toBeGreaterThan(4), WAIT);
  await resumeReplay(standby);
  await vi.waitFor(async () => expect(await lag()).toBeLessThan(2), WAIT);
});

test("nothing is written over the replica, and reads go on without it", async () => {
  const { body } = await transfer();
  await stop();
  expect(await listed()).toContain(body.operationId);
});
