import { pino } from "pino";
import { keccak256, parseEther, toHex, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { createDatabase, type Database } from "@/lib/platform/db/client";
import { BundledElsewhereError, type NewTransaction } from "@/lib/chain/ports/transactions";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { testDatabase } from "@/lib/dev/testing/database";
import {
  answeringWith,
  codeOf,
  GWEI,
  paidElsewhere,
  paymentsOn,
  signedOnly,
} from "@/lib/dev/testing/executor-payments";
import { createMemorySigner } from "@/lib/dev/testing/memory-signer";
import { createTransactionRepository } from "./repository";
import { createChainTransactionsService, type ChainTransactionsService } from "./service";

const CHAIN_ID = 41_337;

const { url, database } = await testDatabase();
const otherDatabase: Database = createDatabase(url, { poolSize: 5 });
const anvil = await startBareAnvil(CHAIN_ID, ["--no-mining"]);
const { client } = anvil;
afterAll(async () => {
  await otherDatabase.close();
  await anvil.stop();
});

const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) };
const log = pino({ level: "silent" });
const repository = createTransactionRepository(database);

let executorKey: Hex;
let executor: Hex;
let service: ChainTransactionsService;

const instance = (
  on: Database,
  rpcUrl = anvil.url,
  fetchFn = fetch,
): ChainTransactionsService =>
  createChainTransactionsService({
    database: on,
    registry: createChainRegistry([{ ...anvil.config, rpcUrls: [rpcUrl] }], {
      timeoutMs: 20_000,
      fetchFn,
    }),
    signer: createMemorySigner({ executor: executorKey }),
    clock,
    log,
  });

beforeEach(async () => {
  clock.offsetMs = 0;
  executorKey = generatePrivateKey();
  executor = privateKeyToAccount(executorKey).address;
  await client.setBalance({ address: executor, value: parseEther("100") });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  await client.mine({ blocks: 1 });
  service = instance(database);
});

const payment = paymentsOn(CHAIN_ID);
/** Stores without broadcasting, like a process that dies between the two. */
const storeOnly = async (one: NewTransaction): Promise<void> => {
  const firstNonce = BigInt(
    await client.getTransactionCount({ address: executor, blockTag: "pending" }),
  );
  await repository.insert(signedOnly(one, { executorKey, firstNonce, now: clock.now() }));
};

const paid = (payments: readonly NewTransaction[]): Promise<bigint[]> =>
  Promise.all(payments.map((one) => client.getBalance({ address: one.to })));

const row = async (one: NewTransaction) => {
  const found = await repository.find(CHAIN_ID, one.purpose);
  if (found === null) throw new Error("not stored");
  return found;
};

/** Replaces the latest blocks by empty ones. */
const reorg = async (depth: number): Promise<void> => {
  await client.request({ method: "anvil_reorg" as never, params: [depth, []] as never });
};

/** The URL of an unreachable chain, as after a crash between storing and sending. */
const NOBODY_LISTENS = "http://127.0.0.1:9";

describe("sending", () => {
  test("a transaction is stored, broadcast, mined and final at the chain's depth", async () => {
    const one = payment();
    const sent = await service.send(one);
    expect(sent.status).toBe("broadcast");
    expect(await service.reconcile(CHAIN_ID)).toBe(1);
    await client.mine({ blocks: 1 });
    await service.reconcile(CHAIN_ID);
    expect(await row(one)).toMatchObject({ status: "mined", minedHash: sent.hash });
    await client.mine({ blocks: anvil.config.confirmations - 1 });
    expect(await service.reconcile(CHAIN_ID)).toBe(0);
    expect((await row(one)).status).toBe("final");
    expect(await paid([one])).toEqual([5n]);
  });

  test("the same purpose, fifty times at once on two instances, is signed once", async () => {
    const one = payment();
    const other = instance(otherDatabase);
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? service : other).send(one)),
    );
    expect(new Set(sent.map((each) => each.hash)).size).toBe(1);
    await client.mine({ blocks: 1 });
    expect(await client.getTransactionCount({ address: executor })).toBe(1);
    expect(await paid([one])).toEqual([5n]);
    const again = payment();
    await service.send(again);
    expect((await row(again)).nonce).toBe(1n);
  });

  test("fifty purposes at once on two instances get consecutive nonces and are all mined", async () => {
    const other = instance(otherDatabase);
    const payments = Array.from({ length: 50 }, () => payment());
    await Promise.all(
      payments.map((one, index) => (index % 2 === 0 ? service : other).send(one)),
    );
    await client.mine({ blocks: 1 });
    const nonces = (await Promise.all(payments.map(row))).map((each) => Number(each.nonce));
    expect(nonces.sort((one, next) => one - next)).toEqual(payments.map((_, index) => index));
    expect(await paid(payments)).toEqual(payments.map(() => 5n));
  });

  test("the first nonce is the one that the chain is at", async () => {
    await client.sendRawTransaction({
      serializedTransaction: await paidElsewhere(CHAIN_ID, executorKey),
    });
    const one = payment();
    await service.send(one);
    expect((await row(one)).nonce).toBe(1n);
  });

  test("an account without funds is named, and no nonce is taken", async () => {
    await client.setBalance({ address: executor, value: 0n });
    const one = payment();
    await expect(service.send(one)).rejects.toThrow(executor);
    expect(await codeOf(service.send(one))).toBe("provider_error");
    expect(await service.find(CHAIN_ID, one.purpose)).toBeNull();
    await client.setBalance({ address: executor, value: parseEther("1") });
    await service.send(one);
    expect((await row(one)).nonce).toBe(0n);
  });

  test("a chain that does not answer stores nothing for a new purpose", async () => {
    const one = payment();
    expect(await codeOf(instance(database, NOBODY_LISTENS).send(one))).toBe(
      "chain_unavailable",
    );
    expect(await service.find(CHAIN_ID, one.purpose)).toBeNull();
  });
});

const hashOf = (name: string): Hex => keccak256(toHex(`${name}:${executorKey}`));

describe("what a transaction carries", () => {
  test("an operation is in one transaction at a time, on however many instances it is bundled at once", async () => {
    const [shared, own] = [hashOf("shared"), [hashOf("one"), hashOf("two")]] as const;
    const services = [service, instance(otherDatabase)];
    const outcomes = await Promise.allSettled(
      services.map((each, index) =>
        each.send({
          ...payment(),
          carries: [shared, own[index] ?? shared].map((userOpHash) => ({
            userOpHash,
            after: null,
          })),
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = outcomes.flatMap((one) =>
      one.status === "rejected" ? [one.reason as unknown] : [],
    );
    expect(refused[0]).toBeInstanceOf(BundledElsewhereError);
    const bundles = await service.bundleTransactionsOf(CHAIN_ID, [shared, ...own]);
    expect(bundles.size).toBe(2);
    expect(new Set([...bundles.values()].map(({ transaction }) => transaction.id)).size).toBe(
      1,
    );
    await client.mine({ blocks: 1 });
    // The refused transaction left no gap in the nonces.
    expect(await client.getTransactionCount({ address: executor })).toBe(1);
  });

  test("only who knows the transaction that carries it now can move it into another one", async () => {
    const userOpHash = hashOf("moved");
    const first = await service.send({ ...payment(), carries: [{ userOpHash, after: null }] });
    const again = (after: string | null) =>
      service.send({ ...payment(), carries: [{ userOpHash, after }] });
    await expect(again(null)).rejects.toBeInstanceOf(BundledElsewhereError);
    await expect(again("txn_unknown")).rejects.toBeInstanceOf(BundledElsewhereError);
    const second = await again(first.id);
    await expect(again(first.id)).rejects.toBeInstanceOf(BundledElsewhereError);
    expect(
      (await service.bundleTransactionsOf(CHAIN_ID, [userOpHash])).get(userOpHash),
    ).toEqual({
      attempts: 2,
      transaction: expect.objectContaining({ id: second.id }) as unknown,
    });
  });
});

describe("after a crash", () => {
  test("what was stored and never broadcast is broadcast by reconciling", async () => {
    const one = payment();
    await storeOnly(one);
    expect((await row(one)).status).toBe("signed");
    await service.reconcile(CHAIN_ID);
    await client.mine({ blocks: 1 });
    await service.reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
    expect(await paid([one])).toEqual([5n]);
  });

  test("what was stored and never broadcast is broadcast by sending it again, under the same nonce", async () => {
    const [one, next] = [payment(), payment()];
    await storeOnly(one);
    await service.send(next);
    await service.send(one);
    await client.mine({ blocks: 1 });
    expect(await paid([one, next])).toEqual([5n, 5n]);
    expect((await row(one)).nonce).toBe(0n);
  });

  test("what was broadcast by a process that died before it could note so is found mined", async () => {
    const one = payment();
    await storeOnly(one);
    await client.sendRawTransaction({ serializedTransaction: (await row(one)).raw });
    await client.mine({ blocks: 1 });
    expect((await service.send(one)).hash).toBe((await row(one)).hash);
    await service.reconcile(CHAIN_ID);
    expect((await row(one)).status).toBe("mined");
    expect(await paid([one])).toEqual([5n]);
  });
});

describe("a broadcast whose answer is lost", () => {
  const serverError = () => Promise.resolve(new Response("oops", { status: 500 }));
  const timeOut = () => Promise.reject(new DOMException("timed out", "TimeoutError"));

  test.each([
    ["HTTP 500", serverError],
    ["a time-out", timeOut],
  ])("but which reached the node (%s) counts as broadcast", async (_, answer) => {
    const one = payment();
    expect(
      (await instance(database, anvil.url, answeringWith(true, answer)).send(one)).status,
    ).toBe("broadcast");
    await client.mine({ blocks: 1 });
    expect(await paid([one])).toEqual([5n]);
  });

  test.each([
    ["HTTP 500", serverError],
    ["a time-out", timeOut],
  ])(
    "and which did not reach it (%s) stays signed, keeps its nonce, and is broadcast later",
    async (_, answer) => {
      const [one, next] = [payment(), payment()];
      expect(
        (await instance(database, anvil.url, answeringWith(false, answer)).send(one)).status,
      ).toBe("signed");
      await service.send(next);
      await client.mine({ blocks: 1 });
      expect(await paid([one, next])).toEqual([0n, 0n]);
      await service.reconcile(CHAIN_ID);
      await client.mine({ blocks: 1 });
      expect(await paid([one, next])).toEqual([5n, 5n]);
      expect((await row(one)).nonce).toBe(0n);
    },
  );
});

test("reconciling what the node has lost is broadcast again", async () => {
  const one = payment();
  const sent = await service.send(one);
  await client.dropTransaction({ hash: sent.hash });
  await client.mine({ blocks: 1 });
  expect(await paid([one])).toEqual([0n]);
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await paid([one])).toEqual([5n]);
});

test("reconciling what pays too little is replaced by a dearer version under the same nonce, once, by whoever comes first", async () => {
  const one = payment({ maxFeePerGas: 2n * GWEI });
  const sent = await service.send(one);
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI });
  await client.mine({ blocks: 1 });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI });
  clock.offsetMs = 60_000;
  await Promise.all([service, instance(otherDatabase)].map((each) => each.reconcile(CHAIN_ID)));
  const bumped = await row(one);
  expect(bumped.replacedHashes).toEqual([sent.hash]);
  expect(bumped.nonce).toBe(0n);
  await client.mine({ blocks: 1 });
  await service.reconcile(CHAIN_ID);
  expect(await row(one)).toMatchObject({ status: "mined", minedHash: bumped.hash });
  expect(await paid([one])).toEqual([5n]);
  expect(await client.getTransactionCount({ address: executor })).toBe(1);
});

test("reconciling an earlier version that is mined after all counts", async () => {
  const one = payment();
  const sent = await service.send(one);
  const first = await row(one);
  clock.offsetMs = 60_000;
  await service.reconcile(CHAIN_ID);
  const bumped = await row(one);
  expect(bumped.replacedHashes).toEqual([sent.hash]);
  await client.dropTransaction({ hash: bumped.hash });
  await client.sendRawTransaction({ serializedTransaction: first.raw });
  await client.mine({ blocks: 1 });
  await service.reconcile(CHAIN_ID);
  expect(await row(one)).toMatchObject({ status: "mined", minedHash: sent.hash });
  expect(await paid([one])).toEqual([5n]);
});

test("reconciling what a reorg takes out of its block is broadcast again", async () => {
  const one = payment();
  await service.send(one);
  await client.mine({ blocks: 1 });
  await service.reconcile(CHAIN_ID);
  expect((await row(one)).status).toBe("mined");
  await reorg(1);
  expect(await paid([one])).toEqual([0n]);
  await service.reconcile(CHAIN_ID);
  expect((await row(one)).status).toBe("broadcast");
  await client.mine({ blocks: 1 });
  await service.reconcile(CHAIN_ID);
  expect((await row(one)).status).toBe("mined");
  expect(await paid([one])).toEqual([5n]);
});

test("reconciling a chain that was set back behind what was final gets all of it again, in order", async () => {
  const [one, two, next] = [payment(), payment(), payment()];
  await service.send(one);
  await service.send(two);
  await client.mine({ blocks: anvil.config.confirmations });
  expect(await service.reconcile(CHAIN_ID)).toBe(0);
  await reorg(anvil.config.confirmations);
  expect(await paid([one, two])).toEqual([0n, 0n]);
  await service.send(next);
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await paid([one, two, next])).toEqual([5n, 5n, 5n]);
});

test("reconciling a transaction whose nonce was used elsewhere gets a new one, and those after it do not wait for ever", async () => {
  const [one, next] = [payment(), payment()];
  await storeOnly(one);
  await client.sendRawTransaction({
    serializedTransaction: await paidElsewhere(CHAIN_ID, executorKey),
  });
  await client.mine({ blocks: 1 });
  await service.send(next);
  await client.mine({ blocks: anvil.config.confirmations + 1 });
  await service.reconcile(CHAIN_ID);
  expect((await row(one)).nonce).toBe(2n);
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  await service.reconcile(CHAIN_ID);
  expect(await paid([one, next])).toEqual([5n, 5n]);
  expect((await row(one)).status).toBe("mined");
});

test("reconciling a chain that does not answer changes nothing", async () => {
  const one = payment();
  await service.send(one);
  const before = await row(one);
  expect(await codeOf(instance(database, NOBODY_LISTENS).reconcile(CHAIN_ID))).toBe(
    "chain_unavailable",
  );
  expect(await row(one)).toEqual(before);
});
