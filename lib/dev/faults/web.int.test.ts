import { parseUnits, type Address } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { testDatabase } from "@/lib/dev/testing/database";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import type { Stage } from "@/lib/dev/testing/fault-proxy";
import { startPgProxy, type Statement } from "@/lib/dev/testing/pg-proxy";
import { startWorker } from "@/lib/workers/runner";

const CHAIN_ID = 31337;

/**
 * The web process is killed at the commit that accepts the operation. Nothing that it sends
 * afterwards reaches the database.
 */
const death: { at: Stage | null; isDead: boolean; accepting: number | null } = {
  at: null,
  isDead: false,
  accepting: null,
};
const watch = (stage: Stage, { sql, connection }: Statement): "go" | "cut" => {
  if (death.isDead) return "cut";
  if (/INSERT INTO [^(]*\boperation_event\b/i.test(sql)) death.accepting = connection;
  if (/^\s*COMMIT/i.test(sql) && connection === death.accepting && stage === death.at)
    death.isDead = true;
  return death.isDead ? "cut" : "go";
};

const [{ url }, devnet] = await Promise.all([testDatabase(), testDevnet()]);
const proxy = await startPgProxy(url, { watch });
afterAll(() => proxy.close());
const api = await testApi({ variables: { DATABASE_URL: proxy.url } });
const { prisma } = api.services.database;

beforeEach(() => {
  death.isDead = false;
  death.accepting = null;
});

const usdcOf = (owner: Address): Promise<bigint> =>
  balanceOnChain(
    devnet.rpcUrls[String(CHAIN_ID)] ?? "",
    api.services.registry.resolveToken(CHAIN_ID, "USDC").address,
    owner,
  );

/** A prepared quote over 10 of 20 USDC, and its execution under one Idempotency-Key. */
const prepared = async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN_ID,
    token: "USDC",
    amount: "20",
  });
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: CHAIN_ID, token: "USDC", amount: "10" }],
    toChainId: CHAIN_ID,
    toToken: "USDC",
    toAddress: recipient,
  });
  const execute = async (
    key: string,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await api.fetch("/swap/execute", {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.session.accessToken}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ quoteId }),
    });
    return {
      status: response.status,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  return { customer, recipient, execute };
};

test("a web process that dies after the commit leaves the money to be moved once, and whoever asks again learns where", async () => {
  const { customer, recipient, execute } = await prepared();
  death.at = "after";
  const dead = await execute("once");
  expect(dead.status).toBe(503);
  death.isDead = false;
  death.at = null;
  // Its request has ended, so its key is freed as soon as the database is available.
  const again = await execute("once");
  expect(again.status).toBe(202);
  const [operation, ...others] = await prisma.operation.findMany({
    where: { legs: { some: { walletAddress: customer.treasury } } },
  });
  expect(others).toEqual([]);
  expect(again.body.operationId).toBe(operation?.id);
  expect(await execute("another")).toMatchObject({
    status: 202,
    body: { operationId: operation?.id },
  });

  const worker = startWorker(api.services);
  const final = await waitUntilFinal(customer.session.client, operation?.id ?? "");
  await worker.stop();
  expect(final.status).toBe("completed");
  expect([await usdcOf(recipient), await usdcOf(customer.treasury)]).toEqual([
    parseUnits("10", 6),
    parseUnits("10", 6),
  ]);
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
});

test("a web process that dies before the commit leaves nothing, and the same quote can be executed again", async () => {
  const { customer, recipient, execute } = await prepared();
  death.at = "before";
  expect((await execute("first")).status).toBe(503);
  death.isDead = false;
  death.at = null;
  expect(
    await prisma.operation.count({
      where: { legs: { some: { walletAddress: customer.treasury } } },
    }),
  ).toBe(0);
  expect(await prisma.balanceHold.count({ where: { walletAddress: customer.treasury } })).toBe(
    0,
  );
  const accepted = await execute("first");
  expect(accepted.status).toBe(202);
  const worker = startWorker(api.services);
  await waitUntilFinal(customer.session.client, String(accepted.body.operationId));
  await worker.stop();
  expect([await usdcOf(recipient), await usdcOf(customer.treasury)]).toEqual([
    parseUnits("10", 6),
    parseUnits("10", 6),
  ]);
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
});
