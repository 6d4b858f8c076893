import { erc20Abi, parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type Customer,
  type OperationAnswer,
  type QuoteBody,
} from "@/lib/dev/testing/journey";
import { depositOfSomebody, newWhale } from "@/lib/dev/testing/other-traffic";
import { ownDevnet, type OwnChain } from "@/lib/dev/testing/own-devnet";
import { startWorker, type Worker } from "@/lib/workers/runner";

/** More than the deepest reorganisation in this file that the service has to survive. */
const CONFIRMATIONS = 15;
const DEEPER = 20;

const devnet = await ownDevnet();
const chainsFile = changedChainsFile((chain) => {
  chain.confirmations = CONFIRMATIONS;
  if (chain.contracts.across) chain.contracts.across.fillDeadlineSeconds = 3_600;
});
const rpcVariables = Object.fromEntries(
  devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl]),
);
const api = await testApi({
  devnet: false,
  variables: { CHAINS_FILE: chainsFile, DEVNET: "1", ...rpcVariables },
});
const { registry, database } = api.services;
await devnet.serve(api.services.config);

const chain = (chainId: number): OwnChain => {
  const found = devnet.chains.find((each) => each.chainId === chainId);
  if (!found) throw new Error(`There is no chain ${chainId}.`);
  return found;
};
const [one, two] = [chain(31337), chain(31338)];
const router = registry.get(one.chainId).contracts.uniswapV3?.swapRouter02 ?? zeroAddress;

let worker: Worker;
let heed = (): void => undefined;
/** The solver fills nothing until it is resumed, so that nothing else changes the chains. */
const ignoreDeposits = (): void => {
  heed = devnet.solver.ignore(() => true);
};

beforeEach(async () => {
  worker = startWorker(api.services);
  // Puts the blocks of earlier tests below the depth of this test's reorganisation.
  await Promise.all([one, two].map((each) => each.mine(DEEPER + 5)));
});
afterEach(async () => {
  heed();
  [one, two].forEach((each) => each.flow());
  await worker.stop();
});
afterAll(() => worker.stop());

/** Interval at which three blocks are made while a test waits for an end. */
const FINISH_BLOCKS_MS = 150;
const WAIT = { timeout: 30_000, interval: 50 };
const usdcOf = ({ chainId, rpcUrl }: OwnChain, owner: Address): Promise<bigint> =>
  balanceOnChain(rpcUrl, registry.resolveToken(chainId, "USDC").address, owner);
const wethOf = ({ chainId, rpcUrl }: OwnChain, owner: Address): Promise<bigint> =>
  balanceOnChain(rpcUrl, registry.resolveToken(chainId, "WETH").address, owner);

interface Started {
  readonly operationId: string;
  readonly customer: Customer;
  readonly recipient: Address;
}

/**
 * A wallet with 100 USDC on chain one, of which half is moved. From here on only transactions make
 * blocks.
 */
const start = async (to: OwnChain, toToken: string, from?: Customer): Promise<Started> => {
  const customer = from ?? (await newCustomer(api));
  if (!from)
    await fund(customer.session.client, customer.treasury, {
      chainId: one.chainId,
      token: "USDC",
      amount: "100",
    });
  await one.mine(DEEPER + 5);
  const recipient = testAccount().address;
  const body: QuoteBody = {
    from: [{ address: customer.treasury, chainId: one.chainId, token: "USDC", amount: "50" }],
    toChainId: to.chainId,
    toToken,
    toAddress: recipient,
  };
  const { quoteId } = await prepareQuote(api, customer, body);
  await Promise.all([one, two].map((each) => each.hold()));
  const { operationId } = await customer.session.client.call(executeSwap, {
    body: { quoteId },
  });
  return { operationId, customer, recipient };
};

const legOf = async ({ operationId }: Started) =>
  database.prisma.operationLeg.findFirstOrThrow({ where: { operationId } });

const untilState = (started: Started, ...states: string[]) =>
  vi.waitFor(async () => {
    const leg = await legOf(started);
    if (!states.includes(leg.state))
      throw new Error(`The leg is ${leg.state}, not ${states.join(" or ")}.`);
    return leg;
  }, WAIT);

const untilReorganised = ({ operationId }: Started, side: "source" | "destination") =>
  vi.waitFor(async () => {
    const events = await database.prisma.operationEvent.findMany({
      where: { operationId, type: "leg.reorganised" },
    });
    expect(events.map(({ data }) => data)).toContainEqual(expect.objectContaining({ side }));
  }, WAIT);

const finish = async ({ customer, operationId }: Started): Promise<OperationAnswer> => {
  [one, two].forEach((each) => each.flow());
  // An operation is final only below the confirmation depth of both chains, so blocks are made
  // faster than one a second.
  const mine = (): void =>
    void Promise.all([one, two].map((each) => each.mine(3))).catch(() => undefined);
  const timer = setInterval(mine, FINISH_BLOCKS_MS);
  try {
    return await waitUntilFinal(customer.session.client, operationId);
  } finally {
    clearInterval(timer);
  }
};

const depthOf = async (where: OwnChain, block: bigint | null): Promise<number> =>
  Number((await where.client.getBlockNumber({ cacheTime: 0 })) - (block ?? 0n)) + 1;

/** Mines until a reorganisation of this depth removes the block and no earlier one. */
const dig = async (where: OwnChain, block: bigint | null, depth: number): Promise<void> => {
  const now = await depthOf(where, block);
  if (now > depth) throw new Error(`The block is ${now} deep already.`);
  if (now < depth) await where.mine(depth - now);
};

/**
 * Replaces the chain from this block on. A transaction of the solver may add a block between
 * counting and replacing, so that this block would survive.
 */
const takeAway = async (where: OwnChain, block: bigint | null): Promise<void> => {
  const hashOf = async () => (await where.client.getBlock({ blockNumber: block ?? 0n })).hash;
  const taken = await hashOf();
  do await where.reorg(await depthOf(where, block));
  while ((await hashOf()) === taken);
};

/**
 * Mines blocks until the base fee (EIP-1559) has reached its minimum, so that a transaction costs
 * the same in any block.
 */
const settleBaseFee = async (where: OwnChain): Promise<void> => {
  const feeOf = async (): Promise<bigint> =>
    (await where.client.getBlock()).baseFeePerGas ?? 0n;
  for (let fee = await feeOf(), before = -1n; fee !== before;) {
    before = fee;
    await where.mine(8);
    fee = await feeOf();
  }
};

const rawOf = (where: OwnChain, hash: string | null): Promise<Hex> =>
  where.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  });

const expectPaidOnce = async (
  { recipient, customer }: Started,
  operation: OperationAnswer,
): Promise<void> => {
  expect(operation).toMatchObject({ status: "completed", failure: null });
  expect(await usdcOf(two, recipient)).toBe(BigInt(operation.actual.received.amountBase));
  expect(await usdcOf(one, customer.treasury)).toBe(parseUnits("50", 6));
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
};

describe("a source that a reorganisation takes away", () => {
  test.each([1, 3, 12])("at depth %i goes back, is sent again and pays once", async (depth) => {
    ignoreDeposits();
    const started = await start(two, "USDC");
    const leg = await untilState(started, "bridging");
    await dig(one, leg.sourceBlock, depth);
    await one.reorg(depth);
    await untilReorganised(started, "source");
    const again = await untilState(started, "bridging");
    expect(again.sourceBlock).not.toBe(leg.sourceBlock);
    heed();
    await expectPaidOnce(started, await finish(started));
  });

  test.each([3, 12])(
    "at depth %i after it was filled is sent again, and the recipient is paid once",
    async (depth) => {
      const started = await start(two, "USDC");
      const leg = await untilState(started, "filled_seen");
      if ((await depthOf(one, leg.sourceBlock)) < depth) await dig(one, leg.sourceBlock, depth);
      await one.reorg(depth);
      await untilReorganised(started, "source");
      await expectPaidOnce(started, await finish(started));
    },
  );

  test("and which the node puts into another block by itself is followed there", async () => {
    ignoreDeposits();
    const started = await start(two, "USDC");
    const leg = await untilState(started, "bridging");
    await dig(one, leg.sourceBlock, 3);
    const raw = await rawOf(one, leg.sourceTxHash);
    await worker.stop();
    await one.reorg(3);
    await one.client.sendRawTransaction({ serializedTransaction: raw });
    worker = startWorker(api.services);
    await untilReorganised(started, "source");
    heed();
    await expectPaidOnce(started, await finish(started));
  });
});

describe("a source that does something else in its new block", () => {
  test("is recorded as what it did there, also under the same number", async () => {
    const whale = await newWhale(one, router, "5000");
    const started = await start(one, "WETH");
    const leg = await untilState(started, "source_seen");
    const raw = await rawOf(one, leg.sourceTxHash);
    const before = await wethOf(one, started.recipient);
    await dig(one, leg.sourceBlock, 1);
    await one.reorg(1, [...whale, raw]);
    await untilReorganised(started, "source");
    const again = await untilState(started, "source_seen");
    expect([again.sourceBlock, again.sourceTxHash]).toEqual([
      leg.sourceBlock,
      leg.sourceTxHash,
    ]);
    const operation = await finish(started);
    expect(operation.status).toBe("completed");
    const received = await wethOf(one, started.recipient);
    expect(received).toBeLessThan(before);
    expect(operation.actual.received.amountBase).toBe(received.toString());
    await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [
      started.customer.treasury,
    ]);
  });

  test("and fails there for its price leaves the money in the wallet, and is not sent again", async () => {
    const whale = await newWhale(one, router, "5000000");
    const started = await start(one, "WETH");
    const leg = await untilState(started, "source_seen");
    const raw = await rawOf(one, leg.sourceTxHash);
    await dig(one, leg.sourceBlock, 3);
    await one.reorg(3, [...whale, raw]);
    await untilReorganised(started, "source");
    const operation = await finish(started);
    expect(operation).toMatchObject({ status: "failed", failure: { code: "source_reverted" } });
    expect(await usdcOf(one, started.customer.treasury)).toBe(parseUnits("100", 6));
    expect(await wethOf(one, started.recipient)).toBe(0n);
    await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [
      started.customer.treasury,
    ]);
  });

  test("and gets another deposit number is followed under that one", async () => {
    ignoreDeposits();
    const [started, other] = [await start(two, "USDC"), await newCustomer(api)];
    const leg = await untilState(started, "bridging");
    const raw = await rawOf(one, leg.sourceTxHash);
    await worker.stop();
    await dig(one, leg.sourceBlock, 3);
    await one.reorg(3);
    await depositOfSomebody(one, two, other.treasury);
    await one.client.sendRawTransaction({ serializedTransaction: raw });
    worker = startWorker(api.services);
    await untilReorganised(started, "source");
    const again = await untilState(started, "bridging");
    expect(again.deposit).not.toEqual(leg.deposit);
    heed();
    await expectPaidOnce(started, await finish(started));
  });
});

describe("a delivery that a reorganisation takes away", () => {
  test.each([1, 3, 12])(
    "at depth %i goes back to the bridge, and is counted once it is there again",
    async (depth) => {
      const started = await start(two, "USDC");
      const leg = await untilState(started, "filled_seen");
      const raw = await rawOf(two, leg.destTxHash);
      await dig(two, leg.destBlock, depth);
      await two.reorg(depth);
      await untilReorganised(started, "destination");
      await untilState(started, "bridging");
      expect(await usdcOf(two, started.recipient)).toBe(0n);
      await two.client.sendRawTransaction({ serializedTransaction: raw });
      await expectPaidOnce(started, await finish(started));
    },
  );
});

test("a reorganisation deeper than what counts as final changes no record, and what it took is sent again with what comes next", async () => {
  // The operation is sent twice. Its record keeps the first cost, but the test compares it with the
  // chain, which has the second cost.
  await settleBaseFee(one);
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: one.chainId, token: "USDC", amount: "150" });
  // An operation that is not reorganised deploys its account.
  await finish(await start(two, "USDC", customer));
  const lost = await start(two, "USDC", customer);
  const leg = await untilState(lost, "filled_seen");
  await Promise.all([one, two].map((each) => each.mine(CONFIRMATIONS)));
  const first = await waitUntilFinal(client, lost.operationId);
  expect(await usdcOf(one, customer.treasury)).toBe(parseUnits("50", 6));
  await one.hold();
  await one.mine(1);
  await takeAway(one, leg.sourceBlock);
  // The executor may already have sent it again, into a later block.
  const inItsBlock = await one.client.readContract({
    abi: erc20Abi,
    address: registry.resolveToken(one.chainId, "USDC").address as Address,
    functionName: "balanceOf",
    args: [customer.treasury],
    blockNumber: leg.sourceBlock ?? 0n,
  });
  expect(inItsBlock).toBe(parseUnits("100", 6));
  one.flow();
  // The blocks of the destination were empty, so its gas became cheaper. A quote needs a constant
  // price from beginning to end.
  await settleBaseFee(two);
  const next = await start(two, "USDC", customer);
  const second = await finish(next);
  expect(second.status).toBe("completed");
  await vi.waitFor(async () => expect(await usdcOf(one, customer.treasury)).toBe(0n), WAIT);
  expect(await usdcOf(two, lost.recipient)).toBe(BigInt(first.actual.received.amountBase));
  expect(await usdcOf(two, next.recipient)).toBe(BigInt(second.actual.received.amountBase));
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
});
