import { pino } from "pino";
import { parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { testDatabase } from "@/lib/dev/testing/database";
import { GWEI, paymentsOn } from "@/lib/dev/testing/executor-payments";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { createMemorySigner } from "@/lib/dev/testing/memory-signer";
import { createTransactionRepository } from "./repository";
import { createChainTransactionsService } from "./service";

const CHAIN_ID = 41_361;
const { database } = await testDatabase();
const anvil = await startBareAnvil(CHAIN_ID, ["--no-mining"]);
const { client } = anvil;
/**
 * A mock of a private relay. Its transactions are not in a public mempool, so the public node shows
 * them only once they are mined.
 */
const relay = await startFaultProxy(anvil.url);
const publicNode = await startFaultProxy(anvil.url);
afterAll(async () => {
  await Promise.all([relay.close(), publicNode.close()]);
  await anvil.stop();
});

const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) };
const executorKey = generatePrivateKey();
const executor = privateKeyToAccount(executorKey).address;
const repository = createTransactionRepository(database);
const config = { ...anvil.config, rpcUrls: [publicNode.url], privateRelayUrl: relay.url };
const service = createChainTransactionsService({
  database,
  registry: createChainRegistry([config]),
  signer: createMemorySigner({ executor: executorKey }),
  clock,
  log: pino({ level: "silent" }),
});
const payment = paymentsOn(CHAIN_ID);
const rowOf = async (purpose: string) => {
  const row = await repository.find(CHAIN_ID, purpose);
  if (row === null) throw new Error("not stored");
  return row;
};

const publicSend = {
  methods: ["eth_sendRawTransaction"],
  fault: { kind: "error", message: "sent in public" },
} as const;
const publicPool = {
  methods: ["eth_getTransactionByHash"],
  fault: { kind: "error", message: "not shown" },
} as const;
let sentInPublic = { hits: 0 };

beforeEach(async () => {
  relay.clear();
  publicNode.clear();
  sentInPublic = publicNode.on(publicSend);
  publicNode.on(publicPool);
  await client.setBalance({ address: executor, value: parseEther("100") });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  await client.mine({ blocks: 1 });
});

const balanceOf = (address: Hex): Promise<bigint> => client.getBalance({ address });

test("transactions go to the private relay alone", async () => {
  const one = payment();
  expect((await service.send(one)).status).toBe("broadcast");
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await balanceOf(one.to)).toBe(5n);
  await service.reconcile(CHAIN_ID);
  expect((await rowOf(one.purpose)).status).toBe("mined");
  expect(sentInPublic.hits).toBe(0);
});

test("a relay that does not answer sends nothing in public; the transaction waits for it", async () => {
  const one = payment();
  relay.on({ fault: { kind: "status", status: 503 } });
  expect((await service.send(one)).status).toBe("signed");
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await balanceOf(one.to)).toBe(0n);
  relay.clear();
  await service.reconcile(CHAIN_ID);
  await client.mine({ blocks: 1 });
  expect(await balanceOf(one.to)).toBe(5n);
  expect(sentInPublic.hits).toBe(0);
});

test("a relayed transaction that pays too little is replaced, although no public node shows it", async () => {
  const one = payment({ maxFeePerGas: 2n * GWEI });
  const sent = await service.send(one);
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI });
  await client.mine({ blocks: 1 });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI });
  clock.offsetMs = 60_000;
  await service.reconcile(CHAIN_ID);
  expect((await rowOf(one.purpose)).replacedHashes).toEqual([sent.hash]);
  await client.mine({ blocks: 1 });
  expect(await balanceOf(one.to)).toBe(5n);
  expect(sentInPublic.hits).toBe(0);
});
