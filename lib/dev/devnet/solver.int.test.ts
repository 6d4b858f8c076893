import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  parseGwei,
  parseUnits,
  zeroAddress,
  type Address,
} from "viem";
import { createPublicClient, http, parseEventLogs } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { devAddress } from "./accounts";
import { planDeployments } from "./contracts";
import { startDevnet, type Devnet } from "./devnet";
import { createUnlockedSender } from "./sender";
import { startSolver, type Solver } from "./solver";
import { spokePoolAbi } from "./across/spoke-pool";

const { contracts } = planDeployments();
const AMOUNT = parseUnits("100", 6);
const OUT = parseUnits("99.9", 6);
const DEADLINE_S = 60;
const WAIT = { timeout: 20_000, interval: 50 };

const depositAbi = parseAbi([
  "function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable",
  "function mint(address to, uint256 amount) returns (bool)",
]);

let devnet: Devnet;
let solver: Solver | null = null;
const folder = mkdtempSync(join(tmpdir(), "causeway-solver-"));
const silent = (): void => undefined;

const chain = (index: number) => {
  const found = devnet.chains[index];
  if (!found) throw new Error("no such chain");
  const client = createPublicClient({ transport: http(found.rpcUrl), pollingInterval: 25 });
  return { ...found, client, sender: createUnlockedSender(client, devAddress("faucet")) };
};
const balance = (index: number, owner: Address): Promise<bigint> =>
  chain(index).client.readContract({
    address: contracts.usdc,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
const stranger = (): Address => privateKeyToAddress(generatePrivateKey());

/**
 * Deposits USDC from chain `from` to chain `to`. A new address receives the refund, so that its
 * balance shows each one.
 */
const deposit = async (
  from: number,
  to: number,
  options: { outputAmount?: bigint; outputToken?: Address } = {},
) => {
  const origin = chain(from);
  const [depositor, recipient] = [stranger(), stranger()];
  const mint = encodeFunctionData({
    abi: depositAbi,
    functionName: "mint",
    args: [origin.sender.address, AMOUNT],
  });
  await origin.sender.send({ to: contracts.usdc, data: mint });
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [contracts.spokePool, 2n ** 256n - 1n],
  });
  await origin.sender.send({ to: contracts.usdc, data: approve });
  const { timestamp } = await origin.client.getBlock();
  const data = encodeFunctionData({
    abi: depositAbi,
    functionName: "depositV3",
    args: [
      depositor,
      recipient,
      contracts.usdc,
      options.outputToken ?? contracts.usdc,
      AMOUNT,
      options.outputAmount ?? OUT,
      BigInt(chain(to).chainId),
      zeroAddress,
      Number(timestamp),
      Number(timestamp) + DEADLINE_S,
      0,
      "0x",
    ],
  });
  const receipt = await origin.sender.send({ to: contracts.spokePool, data });
  const [event] = parseEventLogs({
    abi: spokePoolAbi,
    logs: receipt.logs,
    eventName: "FundsDeposited",
  });
  if (!event) throw new Error("no deposit");
  return { depositor, recipient, depositId: event.args.depositId };
};

const payouts = async (index: number, depositId: bigint) => {
  const events = await chain(index).client.getContractEvents({
    address: contracts.spokePool,
    abi: spokePoolAbi,
    eventName: "ExecutedRelayerRefundRoot",
    fromBlock: 0n,
    strict: true,
  });
  return events.filter(({ args }) => BigInt(args.leafId) === depositId).map(({ args }) => args);
};

const passDeadline = async (index: number): Promise<void> => {
  const test = createTestClient({ mode: "anvil", transport: http(chain(index).rpcUrl) });
  await test.increaseTime({ seconds: DEADLINE_S * 2 });
  await test.mine({ blocks: 1 });
};

const start = (): Solver => {
  solver = startSolver({ chains: devnet.chains, log: silent });
  return solver;
};

beforeAll(async () => {
  devnet = await startDevnet({ dataDir: folder, persist: false, log: silent });
});
afterAll(async () => {
  await solver?.stop();
  await devnet.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the local relayer", () => {
  test("fills a deposit and is repaid its amount on the origin chain, once", async () => {
    start();
    const { recipient, depositId } = await deposit(0, 1);
    await vi.waitFor(async () => expect(await balance(1, recipient)).toBe(OUT), {
      timeout: 20_000,
      interval: 10,
    });
    await vi.waitFor(async () => expect(await payouts(0, depositId)).toHaveLength(1), WAIT);
    expect(await payouts(0, depositId)).toMatchObject([
      {
        refundAmounts: [AMOUNT],
        refundAddresses: [devAddress("relayer")],
        deferredRefunds: false,
      },
    ]);
  });

  test("fills many deposits of several chains at once", async () => {
    const deposits = await Promise.all(
      [0, 1, 2].flatMap((from) =>
        [(from + 1) % 3, (from + 2) % 3, (from + 1) % 3].map(async (to) => ({
          from,
          to,
          ...(await deposit(from, to)),
        })),
      ),
    );
    for (const { from, to, recipient, depositId } of deposits) {
      await vi.waitFor(async () => expect(await balance(to, recipient)).toBe(OUT), WAIT);
      await vi.waitFor(
        async () => expect(await payouts(from, depositId)).toHaveLength(1),
        WAIT,
      );
    }
  });

  test("leaves a deposit alone while its fee is below what the gas costs, and fills it when gas is cheap again", async () => {
    const node = createTestClient({ mode: "anvil", transport: http(chain(1).rpcUrl) });
    const setBaseFee = async (gwei: string): Promise<void> => {
      await node.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) });
      await node.mine({ blocks: 1 });
    };
    // 120,000 gas at 900 gwei cost 324 dollars, but the deposit pays the relayer 10 cents. Empty
    // blocks need a minute to lower the base fee that far.
    await setBaseFee("900");
    const { recipient, depositId } = await deposit(0, 1);
    const cheap = await deposit(0, 2);
    await vi.waitFor(
      async () => expect(await payouts(0, cheap.depositId)).toHaveLength(1),
      WAIT,
    );
    expect(await balance(1, recipient)).toBe(0n);
    await setBaseFee("0.005");
    await vi.waitFor(async () => expect(await balance(1, recipient)).toBe(OUT), WAIT);
    await vi.waitFor(async () => expect(await payouts(0, depositId)).toHaveLength(1), WAIT);
  });

  test("goes on after a restart with what came meanwhile, and pays nothing twice", async () => {
    await solver?.stop();
    const { recipient, depositId } = await deposit(1, 2);
    const before = await Promise.all(
      [0, 1, 2].map(async (index) => balance(index, devAddress("relayer"))),
    );
    start();
    await vi.waitFor(async () => expect(await payouts(1, depositId)).toHaveLength(1), WAIT);
    expect(await balance(2, recipient)).toBe(OUT);
    // Waits until another deposit is completed, so that any action triggered by the restart has
    // happened.
    const second = await deposit(0, 2);
    await vi.waitFor(
      async () => expect(await payouts(0, second.depositId)).toHaveLength(1),
      WAIT,
    );
    const after = await Promise.all(
      [0, 1, 2].map(async (index) => balance(index, devAddress("relayer"))),
    );
    expect(after.map((amount, index) => amount - (before[index] ?? 0n))).toEqual([
      AMOUNT,
      AMOUNT,
      -2n * OUT,
    ]);
  });
});

describe("a deposit that nobody fills", () => {
  test("is refunded to the depositor after its deadline, exactly once, over restarts", async () => {
    await solver?.stop();
    const own = start();
    own.pause();
    const { depositor, recipient, depositId } = await deposit(0, 1);
    own.ignore(
      (each) => each.originChainId === chain(0).chainId && each.depositId === depositId,
    );
    own.resume();
    const other = await deposit(0, 2);
    await vi.waitFor(
      async () => expect(await payouts(0, other.depositId)).toHaveLength(1),
      WAIT,
    );
    expect(await balance(0, depositor)).toBe(0n);
    await passDeadline(1);
    await vi.waitFor(async () => expect(await balance(0, depositor)).toBe(AMOUNT), WAIT);
    await own.stop();
    start();
    const third = await deposit(0, 2);
    await vi.waitFor(
      async () => expect(await payouts(0, third.depositId)).toHaveLength(1),
      WAIT,
    );
    expect(await payouts(0, depositId)).toMatchObject([
      { refundAmounts: [AMOUNT], refundAddresses: [depositor] },
    ]);
    expect(await balance(0, depositor)).toBe(AMOUNT);
    expect(await balance(1, recipient)).toBe(0n);
  });

  test.each([
    { name: "more out than in", options: { outputAmount: AMOUNT + 1n } },
    { name: "another token out", options: { outputToken: contracts.usdt } },
  ])("is not filled when it asks for $name", async ({ options }) => {
    const { depositor, recipient, depositId } = await deposit(2, 0, options);
    const fair = await deposit(2, 0);
    await vi.waitFor(
      async () => expect(await payouts(2, fair.depositId)).toHaveLength(1),
      WAIT,
    );
    expect(await balance(0, recipient)).toBe(0n);
    await passDeadline(0);
    await vi.waitFor(async () => expect(await payouts(2, depositId)).toHaveLength(1), WAIT);
    expect(await balance(2, depositor)).toBe(AMOUNT);
  });
});
