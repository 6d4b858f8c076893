import {
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  maxUint256,
  toHex,
  type Hex,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteLeg, RoutingProvider } from "@/lib/money/ports/routing";
import { fillCall, readDeposit } from "@/lib/dev/devnet/across/spoke-pool";
import { devAddress } from "@/lib/dev/devnet/accounts";
import {
  deployAcrossHub,
  payLeaf,
  refundRootOf,
  type TestLeaf,
} from "@/lib/dev/testing/across-hub";
import { never, newAddress, requestOf } from "@/lib/dev/testing/route-journeys";
import { startLocalRouting, type LocalRouting } from "@/lib/dev/testing/routing-world";
import { type DepositRecord, depositToJson, spokePoolAbi } from "./plan";
import { encodeDeposit } from "./across";
import { eventsOf } from "./receipts";

const [ONE, TWO, THREE] = [31337, 31338, 31339] as const;
const CHAINS = [THREE, ONE, TWO] as const;
const QUARTER_HOUR = 900;

let local: LocalRouting;
let hub: Awaited<ReturnType<typeof deployAcrossHub>>;
let provider: RoutingProvider;
beforeAll(async () => {
  local = await startLocalRouting();
  local.solver.pause();
  // Money for the other leaf of each root.
  await local.give(spokePool(ONE), local.registry.resolveToken(ONE, "USDC"), 100n);
  hub = await deployAcrossHub(rpcUrl(THREE), CHAINS);
  ({ provider } = local.variant((chain) => {
    const { across } = chain.contracts;
    if (chain.id !== THREE || across === undefined) return chain;
    const pools = { hubPool: hub.address, configStore: hub.address };
    return { ...chain, contracts: { ...chain.contracts, across: { ...across, hub: pools } } };
  }));
});
afterAll(async () => local.stop());

const rpcUrl = (chainId: number): string => local.registry.get(chainId).rpcUrls[0] ?? "";
const usdc = (): EvmAddress => {
  const { address } = local.registry.resolveToken(ONE, "USDC");
  if (address === "native") throw new Error("USDC is a contract.");
  return address;
};
const spokePool = (chainId: number): EvmAddress =>
  local.registry.get(chainId).contracts.across?.spokePool ?? "0x";
const chain = (chainId: number) =>
  createTestClient({ mode: "anvil", transport: http(rpcUrl(chainId)) });
const head = (chainId: number): Promise<bigint> =>
  local.registry.client(chainId).getBlockNumber({ cacheTime: 0 });
const now = async (chainId: number): Promise<number> =>
  Number((await local.registry.client(chainId).getBlock()).timestamp);
const pass = async (seconds: number): Promise<void> =>
  local.passTime(Math.max(...(await Promise.all(CHAINS.map(now)))) + seconds);

interface Wanted {
  readonly owner: EvmAddress;
  readonly amount: bigint;
  readonly to?: number;
  /** In Unix seconds; an hour from now by default. */
  readonly fillDeadline?: number;
}

const deposit = async ({
  owner,
  amount,
  to = TWO,
  fillDeadline,
}: Wanted): Promise<DepositRecord> => {
  await local.give(owner, local.registry.resolveToken(ONE, "USDC"), amount);
  const time = await now(ONE);
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [spokePool(ONE), maxUint256],
  });
  const terms = {
    depositor: owner,
    recipient: newAddress(),
    inputToken: usdc(),
    outputToken: usdc(),
    inputAmount: amount,
    outputAmount: amount,
    destinationChainId: to,
    quoteTimestamp: time,
    fillDeadline: fillDeadline ?? time + 3_600,
    message: "0x",
  } as const;
  const receipt = await local.send(ONE, owner, [
    { to: usdc(), data: approve, value: 0n },
    { to: spokePool(ONE), data: encodeDeposit(terms), value: 0n },
  ]);
  const found = eventsOf(spokePoolAbi, spokePool(ONE), receipt.logs).find(
    (log) => log.eventName === "FundsDeposited",
  );
  if (found?.eventName !== "FundsDeposited") throw new Error("There is no deposit.");
  const chains = { originChainId: ONE, destinationChainId: to, destinationBlock: 0n };
  return { ...found.args, ...chains, originBlock: receipt.blockNumber, txHash: receipt.txHash };
};

const leaf = (owner: EvmAddress, amount: bigint, leafId = 0): TestLeaf => ({
  token: usdc(),
  refunds: [
    [devAddress("postman"), 1n],
    [owner, amount],
  ],
  leafId,
});

const ends = (): Promise<bigint[]> => Promise.all(CHAINS.map(head));
const closeBlocks = async (): Promise<void> => {
  for (const chainId of CHAINS) await chain(chainId).mine({ blocks: 1 });
};
/** A bundle up to now that refunds other depositors. */
const otherBundle = async (): Promise<void> => {
  await hub.propose(await ends(), keccak256(toHex(`bundle ${String(await head(ONE))}`)));
  await closeBlocks();
};
/** A bundle up to now, whose leaf the bridge pays. */
const bundle = async (paid: TestLeaf): Promise<Hex> => {
  const last = await ends();
  await closeBlocks();
  await hub.propose(last, refundRootOf(ONE, paid));
  return payLeaf(rpcUrl(ONE), spokePool(ONE), ONE, paid);
};

const track = (of: DepositRecord, by: RoutingProvider = provider) => {
  const token = local.registry.resolveToken(ONE, "USDC");
  const request = requestOf({
    from: token,
    to: local.registry.resolveToken(of.destinationChainId, "USDC"),
    amount: "1",
  });
  return by.track(request, {} as RouteLeg, depositToJson(of), never());
};

const fill = async (of: DepositRecord): Promise<void> => {
  const { destinationChainId: to, outputAmount } = of;
  await local.give(
    devAddress("relayer"),
    local.registry.resolveToken(to, "USDC"),
    outputAmount,
  );
  const call = fillCall(
    readDeposit(ONE, { ...of, destinationChainId: BigInt(to), quoteTimestamp: 0 }),
    devAddress("relayer"),
  );
  await local.send(to, devAddress("relayer"), [{ to: spokePool(to), data: call, value: 0n }]);
};

describe("with the HubPool, a payment is shared out by the bundle's block ranges", () => {
  test("two deposits 15 minutes apart that one leaf refunds are both refunded by it", async () => {
    const owner = newAddress();
    await otherBundle();
    const first = await deposit({ owner, amount: 30_000_000n });
    await pass(QUARTER_HOUR);
    const second = await deposit({ owner, amount: 20_000_000n, to: THREE });
    await pass(4_000);
    expect(await track(first)).toEqual({ state: "expired" });
    const txHash = await bundle(leaf(owner, 50_000_000n));
    for (const [one, refundedBase] of [
      [first, 30_000_000n],
      [second, 20_000_000n],
    ] as const) {
      const progress = await track(one);
      expect(progress).toMatchObject({
        state: "refunded",
        txHash,
        paidBase: 50_000_000n,
        refundedBase,
      });
    }
  });

  test("13 siblings and the deposit itself are recognised in one leaf, and its transfer can be named too", async () => {
    const owner = newAddress();
    await otherBundle();
    const deposits: DepositRecord[] = [];
    for (let index = 0; index < 14; index += 1)
      deposits.push(await deposit({ owner, amount: 1_000_000n + BigInt(index) }));
    await pass(4_000);
    const sum = deposits.reduce((total, { inputAmount }) => total + inputAmount, 0n);
    const txHash = await bundle(leaf(owner, sum));
    const all = await Promise.all(deposits.map((one) => track(one)));
    for (const [index, progress] of all.entries())
      expect(progress).toMatchObject({
        state: "refunded",
        txHash,
        paidBase: sum,
        refundedBase: 1_000_000n + BigInt(index),
      });
    const [one] = deposits;
    if (one === undefined) throw new Error("There is a deposit.");
    const request = requestOf({
      from: local.registry.resolveToken(ONE, "USDC"),
      to: local.registry.resolveToken(TWO, "USDC"),
      amount: "1",
    });
    const named = await provider.refundsIn(
      request,
      {} as RouteLeg,
      depositToJson(one),
      { txHash, agreed: true },
      never(),
    );
    expect(named).toEqual([
      expect.objectContaining({ txHash, paidBase: sum, refundedBase: one.inputAmount }),
    ]);
  });

  test("a payment for another bundle's deposits is not this deposit's, even of its exact amount or a sum with it", async () => {
    const owner = newAddress();
    await otherBundle();
    const waits = await deposit({
      owner,
      amount: 7_000_000n,
      fillDeadline: (await now(ONE)) + 5_000,
    });
    const same = await deposit({
      owner,
      amount: 7_000_000n,
      fillDeadline: (await now(ONE)) + 1_000,
    });
    const sibling = await deposit({
      owner,
      amount: 5_000_000n,
      fillDeadline: (await now(ONE)) + 1_000,
    });
    await pass(1_100);
    await bundle(leaf(owner, 12_000_000n));
    await pass(4_000);
    expect(await track(waits)).toEqual({ state: "expired" });
    // Without the block ranges, 12 = 7 + 5 would look like this deposit's payment too.
    expect(await track(same)).toMatchObject({ state: "refunded", refundedBase: 7_000_000n });
    expect(await track(sibling)).toMatchObject({ state: "refunded", refundedBase: 5_000_000n });
    const own = await bundle(leaf(owner, 7_000_000n));
    expect(await track(waits)).toMatchObject({ state: "refunded", txHash: own });
  });

  test("a sibling that was filled late is not counted", async () => {
    const owner = newAddress();
    await otherBundle();
    const fillDeadline = (await now(ONE)) + 1_000;
    const expired = await deposit({ owner, amount: 9_000_000n, fillDeadline });
    const filled = await deposit({ owner, amount: 4_000_000n, fillDeadline });
    await pass(900);
    await fill(filled);
    await pass(200);
    const txHash = await bundle(leaf(owner, 9_000_000n));
    expect(await track(expired)).toMatchObject({ state: "refunded", txHash });
    expect(await track(filled)).toMatchObject({ state: "filled" });
  });
});

describe("at the boundary of two bundles", () => {
  test("a deadline in the last second of a bundle is refunded by it, one a second later by the next; disputed proposals do not count", async () => {
    const owner = newAddress();
    const last = (await now(TWO)) + 2_000;
    const before = await deposit({ owner, amount: 3_000_000n, fillDeadline: last });
    const after = await deposit({ owner, amount: 2_000_000n, fillDeadline: last + 1 });
    await otherBundle();
    await pass(1_500);
    const closing = await ends();
    await chain(TWO).setNextBlockTimestamp({ timestamp: BigInt(last + 1) });
    await chain(TWO).mine({ blocks: 1 });
    const paid = leaf(owner, 3_000_000n);
    await hub.propose(await ends(), keccak256("0x01"));
    await hub.dispute();
    await hub.propose(closing, refundRootOf(ONE, paid));
    await pass(600);
    const first = await payLeaf(rpcUrl(ONE), spokePool(ONE), ONE, paid);
    expect(await track(before)).toMatchObject({ state: "refunded", txHash: first });
    expect(await track(after)).toEqual({ state: "expired" });
    const second = await bundle(leaf(owner, 2_000_000n));
    expect(await track(after)).toMatchObject({ state: "refunded", txHash: second });
  });
});

describe("what stays ambiguous is a doubt", () => {
  test("a payment of another amount than the bundle's deposits is told with both sums", async () => {
    const owner = newAddress();
    await otherBundle();
    const one = await deposit({ owner, amount: 6_000_000n });
    await deposit({ owner, amount: 5_000_000n });
    await pass(4_000);
    const txHash = await bundle(leaf(owner, 6_000_000n));
    const progress = await track(one);
    expect(progress).toMatchObject({
      state: "expired",
      doubts: [{ txHash, paidBase: 6_000_000n }],
    });
    if (progress.state !== "expired") throw new Error("Not expired.");
    expect(progress.doubts?.[0]?.reason).toBe(
      "The bridge's bundle refunds 2 deposits of this wallet, of 11 USDC together, but its payment is 6 USDC.",
    );
  });

  test("a leaf whose bundle the HubPool does not have is a doubt, and is told again by the next look", async () => {
    const owner = newAddress();
    const one = await deposit({ owner, amount: 6_000_000n });
    await pass(4_000);
    const txHash = await payLeaf(rpcUrl(ONE), spokePool(ONE), ONE, leaf(owner, 6_000_000n));
    for (let look = 0; look < 2; look += 1)
      expect(await track(one)).toMatchObject({ state: "expired", doubts: [{ txHash }] });
    await chain(ONE).mine({ blocks: 200 });
    for (let look = 0; look < 2; look += 1) {
      const progress = await track(one);
      expect(progress.state === "expired" ? progress.doubts : null).toHaveLength(1);
    }
  });

  test("without a HubPool a larger payment is a doubt, and a payment of the exact amount is the deposit's", async () => {
    const [owner, other] = [newAddress(), newAddress()];
    const one = await deposit({ owner, amount: 6_000_000n });
    const exact = await deposit({ owner: other, amount: 4_000_000n });
    await deposit({ owner, amount: 5_000_000n });
    await pass(4_000);
    const txHash = await payLeaf(rpcUrl(ONE), spokePool(ONE), ONE, leaf(owner, 11_000_000n));
    expect(await track(one, local.provider)).toMatchObject({
      state: "expired",
      doubts: [{ txHash }],
    });
    await payLeaf(
      rpcUrl(ONE),
      spokePool(ONE),
      ONE,
      leaf(other, 4_000_000n, Number(exact.depositId)),
    );
    expect(await track(exact, local.provider)).toMatchObject({
      state: "refunded",
      refundedBase: 4_000_000n,
    });
  });
});
