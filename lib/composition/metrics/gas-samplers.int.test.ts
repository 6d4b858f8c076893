import { randomUUID } from "node:crypto";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { suggestFees } from "@/lib/chain/fees";
import { testApi } from "@/lib/dev/testing/api";

const CHAIN = 31337;
const QUIET_CHAIN = 31338;
const DAY_MS = 86_400_000;
const AVERAGE_DAYS = 7;
const GAS_OF_MARK = 700_000n;
const OF_DEPOSIT = 10n;
/** Longer than the time for which any sample is cached. */
const LATER_MS = 61_000;

const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const api = await testApi({ overrides: { clock } });
const { database, metrics, registry, config } = api.services;
const key = await api.createKey(await api.signIn());
const { projectId } = await api.services.apiKeys.verify(key.secret);
const executor = privateKeyToAddress(config.executorPrivateKey ?? "0x");

/** Stores a final transaction of the executor, as a row of the database alone. */
const storeTransaction = async (purpose: string, daysAgo: number): Promise<void> => {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  await database.prisma.chainTransaction.create({
    data: {
      id: randomUUID(),
      chainId: CHAIN,
      fromAddress: executor,
      nonce: BigInt(1_000_000 + Math.floor(Math.random() * 1e9)),
      purpose: `${purpose}:${randomUUID()}`,
      to: executor,
      data: "0x",
      value: 0,
      gas: GAS_OF_MARK,
      maxFeePerGas: 1,
      maxPriorityFeePerGas: 1,
      raw: "",
      hash: randomUUID(),
      replacedHashes: [],
      status: "final",
      createdAt: at,
      updatedAt: at,
    },
  });
};

const storeUsage = async (usedWei: bigint, daysAgo: number): Promise<void> => {
  const day = new Date(Date.now() - daysAgo * DAY_MS);
  await database.prisma.sponsorUsage.create({
    data: {
      projectId,
      chainId: CHAIN,
      day,
      reservedWei: 0,
      usedWei: usedWei.toString(),
    },
  });
};

/** Values of the gauges by their full names; series without a value are missing. */
const shown = async (): Promise<ReadonlyMap<string, number>> => {
  moved.ms += LATER_MS;
  const lines = (await metrics.render()).matchAll(
    /^(causeway_\S*_gas_\S+|causeway_\S+_coins\S*|causeway_gas_\S+) (\S+)$/gm,
  );
  return new Map(Array.from(lines, ([, name = "", value]) => [name, Number(value)]));
};

const ofChain = (name: string, chainId = CHAIN): string =>
  `causeway_${name}{chain="${String(chainId)}"}`;

test("a chain on which nothing was spent has operations left at the present price, and no days", async () => {
  // The first sample of a process may come later than a read waits for it.
  await expect
    .poll(async () => (await shown()).get(ofChain("gas_price_coins")))
    .toBeGreaterThan(0);
  const all = await shown();
  const operations = all.get(ofChain("executor_gas_operations")) ?? 0;
  const coins = all.get(ofChain("executor_balance_coins")) ?? 0;
  const price = all.get(ofChain("gas_price_coins")) ?? 0;
  expect(operations).toBeCloseTo(coins / (price * 1_500_000), -1);
  expect(all.get(ofChain("paymaster_gas_operations"))).toBeGreaterThan(0);
  expect(all.get(ofChain("executor_gas_days"))).toBeUndefined();
  expect(all.get(ofChain("paymaster_gas_days"))).toBeUndefined();
});

test("days left are the balance by the average day of the last seven, without bundles and older rows", async () => {
  const deposit = (await shown()).get(ofChain("paymaster_deposit_coins")) ?? 0;
  const tenthWei = (BigInt(Math.floor(deposit * 1e9)) * 10n ** 9n) / OF_DEPOSIT;
  await storeTransaction("mark", 1);
  await storeTransaction("mark", 6);
  await storeTransaction("mark", 8);
  await storeTransaction("bundle", 1);
  await storeUsage(tenthWei, 2);
  await storeUsage(tenthWei * 5n, 9);
  const all = await shown();
  const { pricePerGas } = await suggestFees(registry.client(CHAIN));
  const balance = await registry.client(CHAIN).getBalance({ address: executor });
  const spentWei = 2n * GAS_OF_MARK * pricePerGas;
  const expectedDays = (Number(balance) / Number(spentWei)) * AVERAGE_DAYS;
  const days = all.get(ofChain("executor_gas_days")) ?? 0;
  // Blocks of other files may move the price between the two reads.
  expect(days / expectedDays).toBeGreaterThan(0.8);
  expect(days / expectedDays).toBeLessThan(1.25);
  expect(all.get(ofChain("paymaster_gas_days"))).toBeCloseTo(
    Number(OF_DEPOSIT) * AVERAGE_DAYS,
    3,
  );
  expect(all.get(ofChain("executor_gas_days", QUIET_CHAIN))).toBeUndefined();
});
