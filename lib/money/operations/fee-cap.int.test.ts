import { parseGwei } from "viem";
import { afterEach, expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { getOperation } from "@/lib/contracts/operations";
import { getPayout } from "@/lib/contracts/payouts";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";

const CAP_GWEI = "30";
const SPIKE = parseGwei("200");
const CALM = parseGwei("1");
const WAIT = { timeout: 40_000, interval: 50 };

const devnet = await ownDevnet();
const [one, two] = devnet.chains;
if (!one || !two) throw new Error("There are three chains.");
const api = await testApi({
  devnet: false,
  worker: true,
  variables: {
    DEVNET: "1",
    ...Object.fromEntries(
      devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl]),
    ),
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id !== one.chainId) return;
      chain.feeCapGwei = CAP_GWEI;
      // Large budgets, because this file tests the fee cap and not the budget.
      chain.sponsor = { ...chain.sponsor, gasPriceGwei: "1000" };
    }),
  },
});
const { registry, database } = api.services;
await devnet.serve(api.services.config);

/** Gives chain one this base fee. It stays, because the test mines only this one block. */
const setBaseFee = async (baseFeePerGas: bigint): Promise<void> => {
  await one.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await one.mine(1);
};
const calm = async (): Promise<void> => {
  await setBaseFee(CALM);
  one.flow();
};
afterEach(calm);

const usdcOf = (owner: `0x${string}`): Promise<bigint> =>
  balanceOnChain(one.rpcUrl, registry.resolveToken(one.chainId, "USDC").address, owner);

const payer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: one.chainId,
    token: "USDC",
    amount: "50",
  });
  return customer;
};
const order = async (customer: Customer, toAddress: `0x${string}`): Promise<string> => {
  const source = {
    address: customer.treasury,
    chainId: one.chainId,
    token: "USDC",
    amount: "50",
  };
  const body = { from: [source], toChainId: one.chainId, toToken: "USDC", toAddress };
  return (await prepareQuote(api, customer, body)).quoteId;
};

test("an operation waits while gas is above the chain's cap, says so, and goes on when it falls", async () => {
  const customer = await payer();
  const { client } = customer.session;
  const recipient = testAccount().address;
  const quoteId = await order(customer, recipient);
  await one.hold();
  await setBaseFee(SPIKE);
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  const read = () => client.call(getOperation, { params: { id: operationId } });
  const waiting = await vi.waitFor(async () => {
    const operation = await read();
    expect(operation.waitsForGas).toHaveLength(1);
    return operation;
  }, WAIT);
  const [wait] = waiting.waitsForGas;
  expect(wait).toMatchObject({ chainId: one.chainId, capGwei: CAP_GWEI });
  expect(Number(wait?.priceGwei)).toBeGreaterThanOrEqual(200);
  expect(waiting.outcome.nextAction).toMatch(
    /waits until the network fee falls\. The fee is 20\d.* at most 30 is paid/,
  );
  // The operation may have been signed with the lower fees of a moment ago. Nothing above them is
  // offered for it, so it stays unmined.
  expect(["queued", "submitted"]).toContain(waiting.legs[0]?.state);
  expect(await usdcOf(recipient)).toBe(0n);

  await calm();
  const done = await waitUntilFinal(client, operationId);
  expect(done).toMatchObject({ status: "completed", waitsForGas: [] });
  expect(await usdcOf(recipient)).toBe(50_000_000n);
  const events = await database.prisma.operationEvent.findMany({
    where: { operationId },
    orderBy: { seq: "asc" },
  });
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => /gas/.test(type))).toEqual([
    "operation.waits_for_gas",
    "operation.gas_fell",
  ]);
  const sent = await database.prisma.chainTransaction.findMany({
    where: { chainId: one.chainId },
  });
  expect(sent.length).toBeGreaterThan(0);
  expect(
    sent.filter((row) => BigInt(row.maxFeePerGas.toFixed()) > parseGwei(CAP_GWEI)),
  ).toEqual([]);
});

test("a payout to wallets waits for gas as well, and its record says so", async () => {
  const customer = await payer();
  const { client } = customer.session;
  await one.hold();
  await setBaseFee(SPIKE);
  const payout = await seedPayout(api.services, customer, {
    chainId: one.chainId,
    batches: [{ token: "USDC", rows: rowsOf("gas", 3) }],
  });
  const { signal } = new AbortController();
  const drive = () => api.services.batchDriver.drive(payout, signal);
  const batchOf = () =>
    database.prisma.walletPayoutBatch.findFirstOrThrow({ where: { payoutId: payout.id } });
  await vi.waitFor(async () => {
    await drive();
    const waiting = await client.call(getPayout, { params: { id: payout.id } });
    expect(waiting.nextAction).toMatch(/waits until the network fee falls/);
  }, WAIT);
  expect(["queued", "signed", "sent"]).toContain((await batchOf()).state);
  await calm();
  await vi.waitFor(async () => {
    await drive();
    expect((await batchOf()).state).toBe("paid");
  }, WAIT);
  const row = await database.prisma.walletPayout.findFirstOrThrow({
    where: { payoutId: payout.id },
  });
  expect(row.gasWaits).toBeNull();
});
