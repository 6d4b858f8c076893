import { pino } from "pino";
import { parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import type { ChainConfig } from "@/lib/platform/config/chains";
import type { NewTransaction } from "@/lib/chain/ports/transactions";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { testDatabase } from "@/lib/dev/testing/database";
import { GWEI, paidElsewhere, paymentsOn } from "@/lib/dev/testing/executor-payments";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { createMemorySigner } from "@/lib/dev/testing/memory-signer";
import { createTransactionRepository } from "./repository";
import { createChainTransactionsService, type ChainTransactionsService } from "./service";

const CHAIN_ID = 41_338;
/** Anvil's `safe` block is one epoch behind its newest block, its `finalized` block two. */
const EPOCH = 4;

const { database } = await testDatabase();
const anvil = await startBareAnvil(CHAIN_ID, [
  "--no-mining",
  "--slots-in-an-epoch",
  String(EPOCH),
]);
const { client } = anvil;
const [first, second] = [await startFaultProxy(anvil.url), await startFaultProxy(anvil.url)];
afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
  await anvil.stop();
});

const repository = createTransactionRepository(database);
const payment = paymentsOn(CHAIN_ID);
let executorKey: Hex;

const service = (change: Partial<ChainConfig>): ChainTransactionsService =>
  createChainTransactionsService({
    database,
    registry: createChainRegistry([{ ...anvil.config, ...change }], { timeoutMs: 20_000 }),
    signer: createMemorySigner({ executor: executorKey }),
    clock: { now: () => new Date() },
    log: pino({ level: "silent" }),
  });
const twoProviders = () => service({ rpcUrls: [first.url, second.url] });
const oneProvider = () => service({ rpcUrls: [first.url] });

beforeEach(async () => {
  executorKey = generatePrivateKey();
  await client.setBalance({
    address: privateKeyToAccount(executorKey).address,
    value: parseEther("100"),
  });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  await client.mine({ blocks: 1 });
});
afterEach(() => {
  first.clear();
  second.clear();
});

const row = async (one: NewTransaction) => {
  const found = await repository.find(CHAIN_ID, one.purpose);
  if (found === null) throw new Error("not stored");
  return found;
};

const sent = async (on: ChainTransactionsService, blocks: number): Promise<NewTransaction> => {
  const one = payment();
  await on.send(one);
  await client.mine({ blocks });
  await on.reconcile(CHAIN_ID);
  return one;
};

describe("a mined transaction stays mined", () => {
  test("where the first provider falls back behind its block and another still has it", async () => {
    const one = await sent(twoProviders(), 1);
    first.on({ fault: { kind: "lag", blocks: 2 } });
    await twoProviders().reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
  });

  test("where the only provider answers once without a receipt, or once with an older count", async () => {
    const one = await sent(oneProvider(), 1);
    first.on({
      fault: { kind: "lag", blocks: 2 },
      methods: ["eth_getTransactionReceipt"],
      times: 1,
    });
    await oneProvider().reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
    first.on({
      fault: { kind: "lag", blocks: 2 },
      methods: ["eth_getTransactionCount"],
      times: 1,
    });
    await oneProvider().reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
  });

  test("while the second provider cannot be asked", async () => {
    const one = await sent(twoProviders(), 1);
    first.on({ fault: { kind: "lag", blocks: 2 } });
    second.on({ fault: { kind: "status", status: 503 } });
    await twoProviders().reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
  });
});

test("a transaction that is final stays final where one provider falls back behind the chain's depth", async () => {
  const one = await sent(twoProviders(), anvil.config.confirmations);
  expect((await row(one)).status).toBe("final");
  await twoProviders().send(payment());
  first.on({ fault: { kind: "lag", blocks: 10 } });
  await twoProviders().reconcile(CHAIN_ID);
  expect((await row(one)).status).toBe("final");
});

test("a payment that one provider does not show gets no second nonce, so it is paid once", async () => {
  const one = payment();
  await twoProviders().send(one);
  await client.mine({ blocks: anvil.config.confirmations + 2 });
  first.on({ fault: { kind: "lag", blocks: 100 }, methods: ["eth_getTransactionReceipt"] });
  await twoProviders().reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await row(one)).toMatchObject({ nonce: 0n });
  expect(await client.getBalance({ address: one.to })).toBe(5n);
});

test("two providers that agree move a payment whose nonce was used elsewhere", async () => {
  const one = payment();
  const on = twoProviders();
  first.on({ fault: { kind: "swallow" }, methods: ["eth_sendRawTransaction"] });
  await on.send(one);
  first.clear();
  await client.sendRawTransaction({
    serializedTransaction: await paidElsewhere(CHAIN_ID, executorKey),
  });
  await client.mine({ blocks: anvil.config.confirmations + 1 });
  await on.reconcile(CHAIN_ID);
  expect((await row(one)).nonce).toBe(1n);
});

test.each([
  ["safe", EPOCH],
  ["finalized", 2 * EPOCH],
] as const)(
  "a transaction is final up to the chain's %s block, and not at its confirmations",
  async (finality, behind) => {
    const on = service({ finality, confirmations: 2 });
    const one = await sent(on, behind);
    expect((await row(one)).status).toBe("mined");
    await client.mine({ blocks: 1 });
    await on.reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("final");
  },
);
