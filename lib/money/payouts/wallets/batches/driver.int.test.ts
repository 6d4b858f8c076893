import { parseUnits, type Address } from "viem";
import { expect, test, vi } from "vitest";
import { createSafeAccounts } from "@/lib/adapters/safe-account/safe-accounts";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { getPayout } from "@/lib/contracts/payouts";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { createMemorySigner } from "@/lib/dev/testing/memory-signer";
import {
  deployOddToken,
  ODD_MODE,
  ODD_RECIPIENT,
  type OddToken,
} from "@/lib/dev/testing/odd-tokens";
import { eventsOf } from "@/lib/dev/testing/project-events";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import {
  expectRowsPaidOnce,
  nobody,
  rowsOf,
  seedPayout,
  type SeededBatch,
} from "@/lib/dev/testing/wallet-payouts";

const [ONE, WITHOUT_DISTRIBUTOR, FOREIGN_DISTRIBUTOR] = [31337, 31338, 31339];
/** A batch of fifty rows fits, and one of a hundred does not. */
const GAS_CEILING = 2_600_000;

const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const oddAt = (chainId: number): Promise<OddToken> =>
  deployOddToken({ rpcUrl: devnet.rpcUrls[String(chainId)] ?? "", deployer }, ODD_MODE.honest);
const odd: Record<string, OddToken> = {};
for (const symbol of ["BLOCKS", "IGNORES", "FEE", "QUIET", "TRAP", "TRAPS", "LESS"])
  odd[symbol] = await oddAt(ONE);

const change = (chain: ChainConfig): void => {
  if (chain.id === ONE) {
    chain.sponsor = { ...chain.sponsor, gasCeilings: { payoutBatch: GAS_CEILING } };
    for (const [symbol, { address }] of Object.entries(odd)) {
      const assetId = symbol.toLowerCase();
      chain.tokens.push({
        symbol,
        name: symbol,
        address,
        decimals: 6,
        assetId,
        usdPegged: false,
      });
    }
  }
  if (chain.id === WITHOUT_DISTRIBUTOR) delete chain.contracts.distributor;
  if (chain.id === FOREIGN_DISTRIBUTOR)
    chain.contracts.distributor = chain.contracts.wrappedNative;
};
const api = await testApi({ variables: { CHAINS_FILE: changedChainsFile(change) } });
const { services } = api;
const { prisma } = services.database;

const tokenOf = (symbol: string): OddToken => {
  const token = odd[symbol];
  if (token === undefined) throw new Error(`${symbol} is not deployed.`);
  return token;
};

const payer = async (chainId = ONE): Promise<Customer> => {
  const customer = await newCustomer(api);
  for (const [token, amount] of [
    ["USDC", "1000"],
    ["DAI", "1000"],
    ["ETH", "1"],
  ] as const)
    await fund(customer.session.client, customer.treasury, { chainId, token, amount });
  return customer;
};

/** A customer with a million base units of a token with unusual behaviour and nothing else. */
const holder = async (symbol: string): Promise<Customer> => {
  const customer = await newCustomer(api);
  await tokenOf(symbol).mint(customer.treasury, 1_000_000n);
  return customer;
};

/** Drives a payout until it has ended, as the worker's job does. */
const driveToEnd = async (payout: { id: string; projectId: string }): Promise<void> => {
  const { signal } = new AbortController();
  for (let turn = await services.batchDriver.drive(payout, signal); !turn.done;) {
    const { againInMs } = turn;
    await new Promise((resolve) => setTimeout(resolve, againInMs));
    turn = await services.batchDriver.drive(payout, signal);
  }
};

/** Drives each batch under way by one step. */
const driveOnce = async (payout: { id: string; projectId: string }): Promise<void> => {
  const { signal } = new AbortController();
  vi.spyOn(signal, "aborted", "get").mockReturnValueOnce(false).mockReturnValue(true);
  // The driver gets a signal that is composed of its caller's.
  const composed = vi.spyOn(AbortSignal, "any").mockReturnValueOnce(signal);
  await services.batchDriver.drive(payout, signal).finally(() => composed.mockRestore());
};

const read = async (id: string) => {
  const [payout, items, batches] = await Promise.all([
    prisma.payout.findUniqueOrThrow({ where: { id } }),
    prisma.walletPayoutItem.findMany({ where: { payoutId: id }, orderBy: { index: "asc" } }),
    prisma.walletPayoutBatch.findMany({ where: { payoutId: id }, orderBy: { number: "asc" } }),
  ]);
  return { payout, items, batches };
};

const pay = async (customer: Customer, batches: readonly SeededBatch[], chainId = ONE) => {
  const payout = await seedPayout(services, customer, { chainId, batches });
  await driveToEnd(payout);
  return read(payout.id);
};

const expectAllIsRight = async ({ treasury }: Customer, chainId = ONE): Promise<void> => {
  await expectRowsPaidOnce(
    services,
    { chainId, rpcUrl: devnet.rpcUrls[String(chainId)] ?? "" },
    treasury,
  );
  await expectBudgetsToFitLegs(services.database);
};

const recipientAt = (rows: readonly { recipient: Address }[], index: number): Address => {
  const row = rows[index];
  if (row === undefined) throw new Error(`There is no row ${String(index)}.`);
  return row.recipient;
};

/** The type of each event, and the row that it is about. */
const reportedOf = async (payoutId: string) =>
  (await eventsOf(services.database, payoutId)).map(({ type, payload }) => [
    type,
    payload.index ?? null,
  ]);

const failedOf = (items: Awaited<ReturnType<typeof read>>["items"]) =>
  items.filter(({ status }) => status === "failed").map(({ index }) => index);

test("a payout of several tokens and batches pays every row once, and deploys the treasury on the way", async () => {
  const customer = await payer();
  const { payout } = await pay(customer, [
    { token: "USDC", rows: rowsOf("several USDC", 30) },
    { token: "DAI", rows: rowsOf("several DAI", 20, parseUnits("1", 18)) },
    { token: "ETH", rows: rowsOf("several ETH", 10) },
    { token: "USDC", rows: rowsOf("several more USDC", 5) },
  ]);
  expect(payout).toMatchObject({
    status: "completed",
    subStatus: "full",
    itemsCompleted: 65,
    itemsFailed: 0,
  });
  await expectAllIsRight(customer);
});

test("two instances that drive the same payout at the same time send no row twice", async () => {
  const customer = await payer();
  const batches = Array.from({ length: 6 }, (_, number) => ({
    token: "USDC",
    rows: rowsOf(`both ${String(number)}`, 4),
  }));
  const payout = await seedPayout(services, customer, { chainId: ONE, batches });
  // No driver holds the job's lease, so only the compare-and-set of each batch prevents double
  // payments.
  await Promise.all([driveToEnd(payout), driveToEnd(payout), driveToEnd(payout)]);
  expect((await read(payout.id)).payout).toMatchObject({
    status: "completed",
    itemsCompleted: 24,
    itemsFailed: 0,
  });
  await expectAllIsRight(customer);
});

test("on a chain without a distributor rows are paid by plain calls, with the same result", async () => {
  const customer = await payer(WITHOUT_DISTRIBUTOR);
  const batches = [
    { token: "USDC", rows: rowsOf("plain USDC", 12) },
    { token: "ETH", rows: rowsOf("plain ETH", 3) },
  ];
  const { payout } = await pay(customer, batches, WITHOUT_DISTRIBUTOR);
  expect(payout).toMatchObject({ status: "completed", itemsCompleted: 15 });
  await expectAllIsRight(customer, WITHOUT_DISTRIBUTOR);
});

test("no payout is signed for a contract that is not the distributor", async () => {
  const accounts = createSafeAccounts({
    registry: services.registry,
    signer: createMemorySigner({}),
  });
  const request = {
    chainId: FOREIGN_DISTRIBUTOR,
    ownerAddress: deployer.address,
    nonceKey: 1n,
    fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
  };
  const payout = { token: "native" as const, rows: rowsOf("foreign", 1) };
  await expect(accounts.draft({ ...request, payout })).rejects.toMatchObject({
    code: "provider_error",
    message: expect.stringContaining("is not the Distributor of this release") as string,
  });
  // A worker reports the fault when it starts.
  expect(await services.distributorFaults()).toEqual([
    expect.stringMatching(/^Local 3: .*no payout is signed/),
  ]);
});

test("rows that the chain would refuse fail with its reason, and the others are paid", async () => {
  const customer = await holder("BLOCKS");
  const rows = rowsOf("blocks", 25);
  for (const bad of [3, 4, 20])
    await tokenOf("BLOCKS").setSpecial(recipientAt(rows, bad), ODD_RECIPIENT.blocked);
  const { payout, items } = await pay(customer, [{ token: "BLOCKS", rows }]);
  expect(payout).toMatchObject({
    status: "partially_completed",
    itemsCompleted: 22,
    itemsFailed: 3,
  });
  const failedRows = [3, 4, 20].map((index) => ["payout.item.failed", index]);
  expect(await reportedOf(payout.id)).toEqual([
    ...failedRows,
    ["payout.partially_completed", null],
  ]);
  expect(failedOf(items)).toEqual([3, 4, 20]);
  expect(items[4]?.failure).toMatchObject({
    code: "simulation_failed",
    retryable: true,
    message: expect.stringContaining("the recipient is blocked") as string,
  });
  await expectAllIsRight(customer);
});

test("a recipient that refuses coins fails only its row, and a token that refuses all transfers fails only its batch", async () => {
  const customer = await payer();
  const rows = rowsOf("coins", 4);
  await tokenOf("BLOCKS").setMode(ODD_MODE.movesNothing);
  await tokenOf("BLOCKS").mint(customer.treasury, 1_000_000n);
  const { payout, items, batches } = await pay(customer, [
    // A token's contract takes no coins.
    { token: "ETH", rows: [...rows, { recipient: tokenOf("TRAP").address, amountBase: 5n }] },
    { token: "BLOCKS", rows: rowsOf("refused", 3) },
  ]);
  await tokenOf("BLOCKS").setMode(ODD_MODE.honest);
  expect(payout).toMatchObject({
    status: "partially_completed",
    itemsCompleted: 4,
    itemsFailed: 4,
  });
  expect(failedOf(items)).toEqual([4, 5, 6, 7]);
  expect(items[6]?.failure).toMatchObject({
    message: expect.stringContaining("did not pay") as string,
  });
  expect(batches.map(({ state, rows: left }) => [state, left])).toEqual([
    ["paid", 4],
    ["failed", 0],
  ]);
  await expectAllIsRight(customer);
});

test("a batch that is too large for one transaction is halved, with its hold and its reservation", async () => {
  const customer = await payer();
  const { payout, batches } = await pay(customer, [
    { token: "USDC", rows: rowsOf("halved", 101) },
  ]);
  expect(payout).toMatchObject({ status: "completed", itemsCompleted: 101 });
  expect(batches.map(({ state, rows }) => [state, rows])).toEqual([
    ["paid", 51],
    ["paid", 50],
  ]);
  await expectAllIsRight(customer);
});

test("rows for which a token moved nothing fail, and rows of which the token keeps a fee are paid", async () => {
  const customer = await holder("IGNORES");
  const [ignored, kept] = [rowsOf("ignored", 6), rowsOf("kept", 3, 5_000n)];
  await tokenOf("IGNORES").setSpecial(recipientAt(ignored, 2), ODD_RECIPIENT.ignored);
  await tokenOf("FEE").mint(customer.treasury, 1_000_000n);
  await tokenOf("FEE").setMode(ODD_MODE.keepsTwoPercent);
  const { payout, items, batches } = await pay(customer, [
    { token: "IGNORES", rows: ignored },
    { token: "FEE", rows: kept },
  ]);
  expect(payout).toMatchObject({
    status: "partially_completed",
    itemsCompleted: 8,
    itemsFailed: 1,
  });
  expect(failedOf(items)).toEqual([2]);
  expect(items[2]?.failure).toMatchObject({ code: "nothing_moved", retryable: false });
  expect(items[6]).toMatchObject({ status: null, failure: { code: "amount_differs" } });
  expect(batches.map(({ rows, amountBase }) => [rows, amountBase.toNumber()])).toEqual([
    [5, 1_000 + 1_001 + 1_003 + 1_004 + 1_005],
    [3, 5_000 + 5_001 + 5_002],
  ]);
});

test("a token without events counts as paid, because its recipients' balances rose", async () => {
  const customer = await holder("QUIET");
  await tokenOf("QUIET").setMode(ODD_MODE.movesQuietly);
  const { payout, items } = await pay(customer, [{ token: "QUIET", rows: rowsOf("quiet", 3) }]);
  expect(payout).toMatchObject({ status: "completed", itemsCompleted: 3 });
  expect(items.map(({ failure }) => failure)).toEqual(
    items.map(() => expect.objectContaining({ code: "amount_differs" }) as unknown),
  );
});

test("a batch that reverts on chain is simulated again once the revert is final, and rows at fault are left out", async () => {
  const customer = await holder("TRAP");
  const rows = rowsOf("trap", 5);
  await tokenOf("TRAP").setSpecial(recipientAt(rows, 1), ODD_RECIPIENT.trapped);
  const payout = await seedPayout(services, customer, {
    chainId: ONE,
    batches: [{ token: "TRAP", rows }],
  });
  // Nobody drives the payout while the token changes, however long that takes.
  const reverted = await vi.waitFor(
    async () => {
      await driveOnce(payout);
      const [batch] = (await read(payout.id)).batches;
      expect(batch?.txHash).not.toBeNull();
      return batch;
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(reverted).toMatchObject({ attempt: 1, state: "sent", inDoubt: true });
  await tokenOf("TRAP").setSpecial(recipientAt(rows, 1), ODD_RECIPIENT.blocked);
  await driveToEnd(payout);
  const { payout: end, items, batches } = await read(payout.id);
  expect(end).toMatchObject({
    status: "partially_completed",
    itemsCompleted: 4,
    itemsFailed: 1,
  });
  expect(failedOf(items)).toEqual([1]);
  expect(batches[0]).toMatchObject({ state: "paid", attempt: 2 });
  // Both attempts have cost something.
  expect(batches[0]?.formerGasWei.toNumber()).toBeGreaterThan(0);
  await expectAllIsRight(customer);
});

test("a batch that reverts on chain repeatedly fails, and its money is released", async () => {
  const customer = await holder("TRAPS");
  const rows = rowsOf("traps", 3);
  await tokenOf("TRAPS").setSpecial(recipientAt(rows, 0), ODD_RECIPIENT.trapped);
  const { payout, batches } = await pay(customer, [{ token: "TRAPS", rows }]);
  expect(payout).toMatchObject({
    status: "failed",
    itemsCompleted: 0,
    itemsFailed: 3,
    failure: { code: "source_reverted" },
  });
  expect(batches[0]).toMatchObject({
    state: "failed",
    attempt: 3,
    failure: { code: "source_reverted" },
  });
  const failedRows = [0, 1, 2].map((index) => ["payout.item.failed", index]);
  expect(await reportedOf(payout.id)).toEqual([...failedRows, ["payout.failed", null]]);
  await expectAllIsRight(customer);
});

test("a batch waits while the treasury lacks the money, and is paid once the money is there", async () => {
  const customer = await newCustomer(api);
  const rows = rowsOf("less", 3);
  const payout = await seedPayout(services, customer, {
    chainId: ONE,
    batches: [{ token: "LESS", rows }],
  });
  const driven = driveToEnd(payout);
  await vi.waitFor(
    async () => expect((await read(payout.id)).batches[0]?.blockedSince).not.toBeNull(),
    {
      timeout: 20_000,
      interval: 20,
    },
  );
  expect((await read(payout.id)).batches[0]).toMatchObject({
    state: "queued",
    attempt: 0,
    failure: { code: "insufficient_balance" },
  });
  await tokenOf("LESS").mint(customer.treasury, 10_000n);
  await driven;
  expect((await read(payout.id)).payout).toMatchObject({
    status: "completed",
    itemsCompleted: 3,
  });
  await expectAllIsRight(customer);
});

/** Restores the state before the batch was signed, as a backup would. */
const lose = async ({
  id,
  projectId,
}: {
  readonly id: string;
  readonly projectId: string;
}): Promise<void> => {
  await prisma.payout.update({
    where: { id },
    data: { status: "processing", itemsCompleted: 0 },
  });
  await prisma.walletPayoutBatch.updateMany({
    where: { projectId, payoutId: id },
    data: {
      state: "queued",
      attempt: 0,
      userOpHash: null,
      txHash: null,
      sponsorReservedWei: null,
      sponsorDay: null,
    },
  });
};

test("an attempt that was executed and then lost from the database is never paid again", async () => {
  const customer = await payer();
  const rows = rowsOf("restored", 3);
  const first = await pay(customer, [{ token: "USDC", rows }]);
  const [batch] = first.batches;
  const { id } = first.payout;
  await lose(first.payout);
  await driveToEnd(first.payout);
  const again = await read(id);
  expect(again.payout).toMatchObject({ status: "failed", itemsFailed: 3 });
  expect(again.batches[0]).toMatchObject({
    state: "failed",
    failure: { code: "source_replaced", retryable: false },
  });
  const record = await customer.session.client.call(getPayout, { params: { id } });
  expect(record.nextAction).toContain("may have paid 3 rows");
  expect(record.nextAction).not.toContain("Nothing was paid");
  expect(record.may).toEqual({ approve: false, cancel: false, retry: false });
  expect(batch?.state).toBe("paid");
  expect(nobody("restored 0")).toBe(recipientAt(rows, 0));
});

test.each([
  { reason: "the treasury has too little left", firstBase: 333_000n, isRefused: false },
  { reason: "its token refuses a recipient now", firstBase: 1_000n, isRefused: true },
])(
  "an attempt that was executed and lost is found, although $reason: no row fails as unpaid",
  async (given) => {
    const customer = await holder("BLOCKS");
    const rows = rowsOf(given.reason, 3, given.firstBase);
    const { payout } = await pay(customer, [{ token: "BLOCKS", rows }]);
    expect(payout.status).toBe("completed");
    await lose(payout);
    if (given.isRefused)
      await tokenOf("BLOCKS").setSpecial(recipientAt(rows, 1), ODD_RECIPIENT.blocked);
    await driveToEnd(payout);
    const { batches, items } = await read(payout.id);
    expect(batches[0]).toMatchObject({
      state: "failed",
      rows: 3,
      failure: { code: "source_replaced" },
    });
    expect(failedOf(items)).toEqual([]);
  },
);
