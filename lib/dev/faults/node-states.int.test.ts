/**
 * Nodes that lack a block or a state, and nodes that limit requests: the next node is asked, or the
 * caller is told to retry.
 */
import { getAddress, type Address } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { getReserves } from "@/lib/contracts/reserves";
import { createQuote, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { createSmartAccount, listWallets } from "@/lib/contracts/wallets";
import { testApi } from "@/lib/dev/testing/api";
import { followUntil, sendFromOutside } from "@/lib/dev/testing/deposits";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy, type Fault } from "@/lib/dev/testing/fault-proxy";
import { codesOf, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

const ONE = 31337;
const devnet = await testDevnet();
const url = devnet.rpcUrls[String(ONE)] ?? "";
const [bad, sound] = [await startFaultProxy(url), await startFaultProxy(url)];
afterAll(() => Promise.all([bad.close(), sound.close()]));
afterEach(() => {
  bad.clear();
  sound.clear();
});
const withUrls = (rpcUrls: string[]) =>
  createChainRegistry(
    devnet.chains.map((chain) => (chain.id === ONE ? { ...chain, rpcUrls } : chain)),
  );
/** One node, with a second one as fallback. */
const api = await testApi({ overrides: { registry: withUrls([bad.url]) } });
const both = withUrls([bad.url, sound.url]);

const STATES = [
  "header not found",
  "missing trie node 1f (path ) state 0x12 is not available",
  "unknown block",
  "historical state 1f is not available",
];
const READS = [
  "eth_call",
  "eth_getBalance",
  "eth_getCode",
  "eth_getBlockByNumber",
  "eth_getTransactionCount",
  "eth_getLogs",
  "eth_estimateGas",
];
const stateOf = (message: string): Fault => ({ kind: "error", code: -32000, message });

let customer: Customer;
let key: Awaited<ReturnType<typeof api.createKey>>["client"];
let account = "";
let owner: Address;
beforeAll(async () => {
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "50" });
  ({ client: key } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  }));
  const treasury = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  owner = getAddress(treasury.ownerAddress ?? "");
  ({ id: account } = await client.call(createGlobalAccount, { body: { currency: "USDC" } }));
  // Reserves count at final blocks, so the money takes a moment.
  const funding = { params: { id: account }, body: { amount: "1", currency: "USDC" } };
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), {
    timeout: 30_000,
    interval: 200,
  });
}, 120_000);

const terms = () => ({
  fromWalletId: customer.treasuryId,
  fromChainId: ONE,
  toChainId: ONE,
  amount: "1",
});
const someone = () => testAccount().address;
const source = () => [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "1" }];

/** Routes that read a chain while the caller waits. */
const ROUTES: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    "POST /swap/quote",
    () =>
      key.call(createQuote, {
        body: { from: source(), toChainId: ONE, toToken: "WETH", toAddress: customer.treasury },
      }),
  ],
  [
    "POST /transfers",
    () =>
      key.call(createTransfer, { body: { ...terms(), token: "USDC", toAddress: someone() } }),
  ],
  [
    "POST /swap-and-transfer",
    () => {
      const body = { ...terms(), fromToken: "USDC", toToken: "WETH", recipient: someone() };
      return key.call(swapAndTransfer, { body });
    },
  ],
  [
    "POST /payouts/bulk/wallets",
    () => {
      const transfers = [{ address: someone(), amount: "1", token: "USDC" }];
      return key.call(createWalletsPayout, {
        body: { chainId: ONE, transfers, validateOnly: true },
      });
    },
  ],
  [
    "POST /global-accounts/{id}/fund",
    () => {
      const request = { params: { id: account }, body: { amount: "1", currency: "USDC" } };
      return customer.session.client.call(fundGlobalAccount, request);
    },
  ],
  [
    "POST /wallet/smart-account",
    () =>
      customer.session.client.call(createSmartAccount, {
        body: { ownerAddress: owner, chainId: ONE },
      }),
  ],
  ["GET /balances/unified", () => key.call(getUnifiedBalances, { query: {} })],
  ["GET /reserves", () => key.call(getReserves)],
  ["GET /wallets", () => key.call(listWallets, { query: {} })],
];

/** `answers`, or the error code of the refusal. */
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "answers",
    (error: unknown) => {
      const { status, code } = error as { status: number; code: string };
      return `${String(status)} ${code}`;
    },
  );

describe.each(STATES)("a node that says %j", (message) => {
  test.each(ROUTES)(
    "makes %s answer without it, or say that the chain is away",
    async (_route, call) => {
      bad.on({ fault: stateOf(message), methods: READS });
      expect(["answers", "503 chain_unavailable"]).toContain(await outcomeOf(call()));
    },
  );
});

test("of a chain whose node lacks the state no money moves: quotes, transfers and payouts are refused as unavailable", async () => {
  bad.on({ fault: stateOf("header not found"), methods: READS });
  for (const name of [
    "POST /swap/quote",
    "POST /swap-and-transfer",
    "POST /payouts/bulk/wallets",
  ]) {
    const [, call] = ROUTES.find(([route]) => route === name) ?? [];
    expect(await outcomeOf(call?.() ?? Promise.resolve()), name).toBe("503 chain_unavailable");
  }
});

test("a prepared transfer is not refused as one that the chain would not execute while a node lacks the state", async () => {
  const { client } = customer.session;
  const seen = await codesOf(api, customer);
  const { transferId } = await client.call(createTransfer, {
    body: { ...terms(), token: "USDC", toAddress: someone() },
  });
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(customer.email, seen);
  bad.on({ fault: stateOf("header not found"), methods: READS });
  expect(await outcomeOf(client.call(prepareSwap, { body: { transferId, otp } }))).toBe(
    "503 chain_unavailable",
  );
  bad.clear();
  expect(await outcomeOf(client.call(prepareSwap, { body: { transferId } }))).toBe("answers");
});

test.each(STATES)("the next node is asked when the first one says %j", async (message) => {
  const rule = bad.on({ fault: stateOf(message), methods: READS });
  expect(await both.client(ONE).getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(0n);
  expect(await both.client(ONE).getBalance({ address: customer.treasury })).toBe(0n);
  const { number } = await both.client(ONE).getBlock();
  expect(number).toBeGreaterThan(0n);
  expect(rule.hits).toBeGreaterThan(0);
});

describe("a node that limits requests inside of an answer with status 200", () => {
  const LIMIT: Fault = { kind: "error", code: -32005, message: "limit exceeded" };

  test("is asked again later, a few times, and the caller gets the answer", async () => {
    const rule = bad.on({ fault: LIMIT, times: 2 });
    expect(await outcomeOf(key.call(getUnifiedBalances, { query: {} }))).toBe("answers");
    expect(rule.hits).toBe(2);
  });

  test("is not asked at all while the next one answers", async () => {
    const rule = bad.on({ fault: LIMIT });
    const registry = withUrls([bad.url, sound.url]);
    const ask = () => registry.client(ONE).getBalance({ address: customer.treasury });
    for (let read = 0; read < 10; read += 1) expect(await ask()).toBe(0n);
    expect(rule.hits).toBeLessThan(10);
  });

  test("is named as the reason when it answers nothing else", async () => {
    const rule = bad.on({ fault: LIMIT });
    const error = await key
      .call(createQuote, {
        body: { from: source(), toChainId: ONE, toToken: "WETH", toAddress: customer.treasury },
      })
      .then(
        () => null,
        (thrown: unknown) => thrown as { status: number; code: string; message: string },
      );
    expect(error).toMatchObject({ status: 503, code: "chain_unavailable" });
    expect(rule.hits).toBeGreaterThan(0);
  });

  test("does not starve the search for deposits, and makes no searched range smaller", async () => {
    const { deposits, registry, database } = api.services;
    const usdc = registry.resolveToken(ONE, "USDC");
    await deposits.follow(ONE);
    const fresh = await newCustomer(api);
    let calls = 0;
    // Two of every three calls exceed the node's limit.
    bad.on({ fault: LIMIT, when: () => (calls += 1) % 3 !== 0 });
    await sendFromOutside(withUrls([url]), testAccount(), {
      token: usdc,
      to: fresh.treasury,
      amountBase: 5_000_000n,
    });
    await followUntil(
      { follow: (id) => deposits.follow(id).catch(() => undefined) },
      ONE,
      async () => {
        const rows = await database.prisma.deposit.findMany({
          where: { walletId: fresh.treasuryId },
        });
        expect(rows).toMatchObject([{ amountBase: expect.anything() as object }]);
      },
    );
    expect(registry.logRangeBlocks(ONE)).toBe(BigInt(registry.get(ONE).logRangeBlocks));
  }, 120_000);
});
