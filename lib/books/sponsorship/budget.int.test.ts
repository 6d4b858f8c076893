import {
  createPublicClient,
  formatEther,
  http,
  parseAbiItem,
  parseEther,
  type Hex,
} from "viem";
import { describe, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, waitUntilFinal, type Customer } from "@/lib/dev/testing/journey";
import {
  doActions,
  linkedWallet,
  ownSmartAccount,
  plainWallet,
  prepareOwn,
} from "@/lib/dev/testing/own-wallets";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { keepOneDay } from "@/lib/dev/testing/one-day";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
const api = await testApi({ worker: true });
const devnet = await testDevnet();
const { database, sponsorship, registry } = api.services;
const clock = keepOneDay(api.services.clock);

interface Payer extends Customer {
  readonly key: TestApiKey;
  readonly projectId: string;
}

const newPayer = async (): Promise<Payer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: ONE,
    token: "USDC",
    amount: "100",
  });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });
  const { projectId } = await database.prisma.wallet.findFirstOrThrow({
    where: { address: customer.treasury },
  });
  return { ...customer, key, projectId };
};

const transferOf = async ({ key, treasuryId }: Payer): Promise<string> => {
  const body = {
    fromWalletId: treasuryId,
    fromChainId: ONE,
    toChainId: ONE,
    token: "USDC",
    amount: "1",
  };
  return (
    await key.client.call(createTransfer, {
      body: { ...body, toAddress: testAccount().address },
    })
  ).transferId;
};
const prepare = ({ key }: Payer, transferId: string) =>
  key.client.call(prepareSwap, { body: { transferId } });
const execute = async ({ key }: Payer, transferId: string): Promise<string> =>
  (await key.client.call(executeSwap, { body: { transferId } })).operationId;

const pay = async (payer: Payer): Promise<string> => {
  const transferId = await transferOf(payer);
  await prepare(payer, transferId);
  const operationId = await execute(payer, transferId);
  expect(await waitUntilFinal(payer.key.client, operationId)).toMatchObject({
    status: "completed",
  });
  return operationId;
};

const budgetOf = async ({ projectId }: Payer, chainId: number) => {
  const found = (await sponsorship.budgets(projectId)).find(
    ({ chain }) => chain.id === chainId,
  );
  if (found === undefined) throw new Error("Every local chain has a sponsor.");
  return found;
};

const eventAbi = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

/** The network fees of the operations' legs, read from the chain without the service's code. */
const costOnChain = async (
  chainId: number,
  operationIds: readonly string[],
): Promise<bigint> => {
  const legs = await database.prisma.operationLeg.findMany({
    where: { operationId: { in: [...operationIds] } },
  });
  const client = createPublicClient({ transport: http(registry.get(chainId).rpcUrls[0]) });
  const logs = await client.getLogs({
    address: registry.get(chainId).contracts.entryPoint,
    event: eventAbi,
    args: {
      userOpHash: legs.flatMap(({ userOpHash }) =>
        userOpHash === null ? [] : [userOpHash as Hex],
      ),
    },
    fromBlock: 0n,
    strict: true,
  });
  expect(logs).toHaveLength(operationIds.length);
  return logs.reduce((sum, { args }) => sum + args.actualGasCost, 0n);
};

describe("a project's sponsor budget", () => {
  test("counts the exact cost of its operations on chain, and is shown to its members", async () => {
    const [payer, other] = [await newPayer(), await newPayer()];
    const operationIds = [await pay(payer), await pay(payer)];
    const cost = await costOnChain(ONE, operationIds);
    const { sponsorBudgets } = await payer.session.client.call(getMe, {});
    const midnight = new Date(
      new Date(clock.now().toISOString().slice(0, 10)).getTime() + 24 * 3600 * 1000,
    );
    const limits = {
      dailyLimit: "300",
      dailyCeiling: "300",
      perOperation: "10",
      perOperationCeiling: "10",
    };
    const shared = { symbol: "ETH", ...limits, resetsAt: midnight.toISOString() };
    const unused = { ...shared, used: "0", reserved: "0", remaining: "300" };
    const remaining = formatEther(parseEther("300") - cost);
    expect(sponsorBudgets).toEqual([
      { ...shared, chainId: ONE, used: formatEther(cost), reserved: "0", remaining },
      { ...unused, chainId: TWO },
      { ...unused, chainId: THREE },
    ]);
    const { sponsorBudgets: others } = await other.session.client.call(getMe, {});
    expect(others).toEqual([ONE, TWO, THREE].map((chainId) => ({ ...unused, chainId })));
    await expectBudgetsToFitLegs(database);
  });

  test("refuses operations once it is used up, says how much is left and until when, and does not affect other projects", async () => {
    const [payer, other] = [await newPayer(), await newPayer()];
    await pay(payer);
    const { usedWei, resetsAt } = await budgetOf(payer, ONE);
    await sponsorship.setBudget(
      { projectId: payer.projectId, chainId: ONE },
      { dailyWei: usedWei + 1000n, operationWei: null },
    );
    const transferId = await transferOf(payer);
    await expect(prepare(payer, transferId)).rejects.toMatchObject({
      status: 422,
      code: "sponsor_budget_exceeded",
      message: expect.stringContaining(
        `0.000000000000001 ETH are left until ${resetsAt.toISOString()}`,
      ) as string,
    });
    await pay(other);
    await expectBudgetsToFitLegs(database);
  });

  test("refuses an operation above the limit for one operation, however much of the day's budget is left", async () => {
    const payer = await newPayer();
    await sponsorship.setBudget(
      { projectId: payer.projectId, chainId: ONE },
      { dailyWei: null, operationWei: 1000n },
    );
    await expect(prepare(payer, await transferOf(payer))).rejects.toMatchObject({
      status: 422,
      code: "sponsor_budget_exceeded",
      message: expect.stringContaining(
        "0.000000000000001 ETH at most for one operation",
      ) as string,
    });
  });

  test("is checked again at execution, so an operation that was prepared before the budget was used up is refused", async () => {
    const payer = await newPayer();
    const transferId = await transferOf(payer);
    await prepare(payer, transferId);
    await sponsorship.setBudget(
      { projectId: payer.projectId, chainId: ONE },
      { dailyWei: 1n, operationWei: null },
    );
    await expect(execute(payer, transferId)).rejects.toMatchObject({
      status: 422,
      code: "sponsor_budget_exceeded",
    });
    await sponsorship.setBudget(
      { projectId: payer.projectId, chainId: ONE },
      { dailyWei: null, operationWei: null },
    );
    expect(
      await waitUntilFinal(payer.key.client, await execute(payer, transferId)),
    ).toMatchObject({
      status: "completed",
    });
  });
});

const reservedFor = async (operationId: string): Promise<(bigint | null)[]> => {
  const legs = await database.prisma.operationLeg.findMany({ where: { operationId } });
  return legs.map(({ sponsorReservedWei }) =>
    sponsorReservedWei === null ? null : BigInt(sponsorReservedWei.toFixed(0)),
  );
};

test("a sponsor's budget counts a swap and bridge in one call, and refuses it once it is used up", async () => {
  const payer = await newPayer();
  const body = {
    fromWalletId: payer.treasuryId,
    fromChainId: ONE,
    toChainId: TWO,
    fromToken: "USDC",
    toToken: "WETH",
    amount: "20",
  };
  const call = () =>
    payer.key.client.call(swapAndTransfer, {
      body: { ...body, recipient: testAccount().address },
    });
  const { operationId } = await call();
  await waitUntilFinal(payer.key.client, operationId);
  const { usedWei, reservedWei } = await budgetOf(payer, ONE);
  expect([usedWei, reservedWei]).toEqual([await costOnChain(ONE, [operationId]), 0n]);
  await sponsorship.setBudget(
    { projectId: payer.projectId, chainId: ONE },
    { dailyWei: usedWei, operationWei: null },
  );
  await expect(call()).rejects.toMatchObject({ status: 422, code: "sponsor_budget_exceeded" });
});

test("a sponsor's budget counts an operation that the account's owner signed, at the signed price", async () => {
  const payer = await newPayer();
  const owner = await linkedWallet(payer);
  const account = await ownSmartAccount(payer, owner.address, ONE);
  await fund(payer.session.client, account, { chainId: ONE, token: "USDT", amount: "80" });
  const from = [{ address: account, chainId: ONE, token: "USDT", amount: "80" }];
  const body = { from, toChainId: ONE, toToken: "USDT", toAddress: testAccount().address };
  const { quote, prepared } = await prepareOwn(api, payer, body);
  const signatures = await doActions(api, [owner], prepared.actions);
  const { client } = payer.session;
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  await waitUntilFinal(client, operationId);
  const [reserved] = await reservedFor(operationId);
  const cost = await costOnChain(ONE, [operationId]);
  expect(reserved).toBeGreaterThan(cost);
  expect((await budgetOf(payer, ONE)).usedWei).toBe(cost);
});

test("a sponsor's budget counts permits of a plain wallet; once it is used up, the wallet has to send and pay for its own transaction", async () => {
  const payer = await newPayer();
  const wallet = await plainWallet(devnet, payer);
  await fund(payer.session.client, wallet.address, {
    chainId: ONE,
    token: "USDC",
    amount: "50",
  });
  const from = [{ address: wallet.address, chainId: ONE, token: "USDC", amount: "5" }];
  const body = { from, toChainId: ONE, toToken: "USDC", toAddress: testAccount().address };
  const run = async () => {
    const { quote, prepared } = await prepareOwn(api, payer, body);
    const signatures = await doActions(api, [wallet], prepared.actions);
    const { client } = payer.session;
    const { operationId } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId, signatures },
    });
    expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
    return { operationId, prepared };
  };
  const permitted = await run();
  expect(permitted.prepared.networkFees.map(({ paidBy }) => paidBy)).toEqual(["sponsor"]);
  const cost = await costOnChain(ONE, [permitted.operationId]);
  expect((await budgetOf(payer, ONE)).usedWei).toBe(cost);
  await sponsorship.setBudget(
    { projectId: payer.projectId, chainId: ONE },
    { dailyWei: cost, operationWei: null },
  );
  const sent = await run();
  expect(sent.prepared.networkFees.map(({ paidBy }) => paidBy)).toEqual(["wallet"]);
  expect(await reservedFor(sent.operationId)).toEqual([null]);
  expect((await budgetOf(payer, ONE)).usedWei).toBe(cost);
});

test("a sponsor's budget counts every leg of an operation, each on its own chain", async () => {
  const payer = await newPayer();
  const { client } = payer.session;
  await fund(client, payer.treasury, { chainId: TWO, token: "DAI", amount: "30" });
  const from = [
    { address: payer.treasury, chainId: ONE, token: "USDC", amount: "10" },
    { address: payer.treasury, chainId: TWO, token: "DAI", amount: "20" },
  ];
  const body = { from, toChainId: THREE, toToken: "USDC", toAddress: testAccount().address };
  const { quote } = await prepareOwn(api, payer, body);
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  await waitUntilFinal(client, operationId);
  const used = await Promise.all(
    [ONE, TWO, THREE].map(async (chainId) => (await budgetOf(payer, chainId)).usedWei),
  );
  expect(used.map((wei) => wei > 0n)).toEqual([true, true, false]);
  await expectBudgetsToFitLegs(database);
});
