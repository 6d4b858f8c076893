import { parseGwei, parseUnits, type Address, type Hex } from "viem";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
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

const devnet = await ownDevnet();
const [one, two] = devnet.chains;
if (!one || !two) throw new Error("There are three chains.");
const proxy = await startFaultProxy(one.rpcUrl);
afterAll(() => proxy.close());
const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) };
const rpcVariables = Object.fromEntries(
  devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl]),
);
const api = await testApi({
  devnet: false,
  worker: true,
  overrides: { clock },
  variables: { DEVNET: "1", ...rpcVariables, [`RPC_URL_${one.chainId}`]: proxy.url },
});
const { registry, database } = api.services;
const executor = await devnet.serve(api.services.config);

afterEach(async () => {
  proxy.clear();
  clock.offsetMs = 0;
  await one.client.setAutomine(true);
  one.flow();
});

const WAIT = { timeout: 40_000, interval: 25 };
const usdcOf = (chainId: number, owner: Address): Promise<bigint> =>
  balanceOnChain(
    devnet.rpcUrls[chainId] ?? "",
    registry.resolveToken(chainId, "USDC").address,
    owner,
  );

interface Started {
  readonly operationId: string;
  readonly customer: Customer;
  readonly recipient: Address;
}

const order = async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: one.chainId,
    token: "USDC",
    amount: "50",
  });
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: one.chainId, token: "USDC", amount: "50" }],
    toChainId: two.chainId,
    toToken: "USDC",
    toAddress: recipient,
  });
  return { customer, recipient, quoteId };
};

const newest = (above: bigint) =>
  database.prisma.chainTransaction.findFirst({
    where: { chainId: one.chainId, fromAddress: executor, nonce: { gt: above } },
    orderBy: { nonce: "desc" },
  });
/**
 * The executor's nonce before this test's operations, so that earlier tests' transactions are not
 * counted.
 */
let nonceBefore = -1n;

/**
 * Operations whose source is on chain one, which makes blocks from here on only when the test
 * requests it.
 */
const startSeveral = async (count: number): Promise<Started[]> => {
  const orders = await Promise.all(Array.from({ length: count }, order));
  nonceBefore = (await newest(-1n))?.nonce ?? -1n;
  await one.hold();
  await one.client.setAutomine(false);
  return Promise.all(
    orders.map(async ({ customer, recipient, quoteId }) => {
      const { operationId } = await customer.session.client.call(executeSwap, {
        body: { quoteId },
      });
      return { operationId, customer, recipient };
    }),
  );
};

const start = async (): Promise<Started> => {
  const [started] = await startSeveral(1);
  if (!started) throw new Error("Nothing was started.");
  return started;
};

/**
 * The executor's newest transaction on chain one in this test, once `accept` returns true for it.
 */
const transaction = (accept: (row: { status: string; replacedHashes: string[] }) => boolean) =>
  vi.waitFor(async () => {
    const row = await newest(nonceBefore);
    if (!row) throw new Error("It is not there yet.");
    if (!accept(row))
      throw new Error(
        `It is ${row.status}, replaced ${String(row.replacedHashes.length)} times.`,
      );
    return row;
  }, WAIT);

const isKnown = (hash: string): Promise<boolean> =>
  one.client.getTransaction({ hash: hash as Hex }).then(
    () => true,
    () => false,
  );

const expectPaidOnce = async ({ operationId, customer, recipient }: Started): Promise<void> => {
  await one.client.setAutomine(true);
  one.flow();
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({ status: "completed", failure: null });
  expect(await usdcOf(two.chainId, recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
  expect(BigInt(operation.actual.received.amountBase)).toBeGreaterThan(parseUnits("49", 6));
  expect(await usdcOf(one.chainId, customer.treasury)).toBe(0n);
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
};

/** Raises the base fee of the next blocks above the offered fee. */
const raiseBaseFee = async (gwei: string): Promise<void> => {
  await one.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) });
  await one.mine(1);
  await one.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) });
};

test("an operation whose transaction pays too little by now is carried by a dearer one with the same nonce", async () => {
  const started = await start();
  const first = await transaction(({ status }) => status === "broadcast");
  await raiseBaseFee("300");
  expect(await one.client.getTransactionCount({ address: executor })).toBe(Number(first.nonce));
  clock.offsetMs = 10_000;
  const bumped = await transaction(
    ({ status, replacedHashes }) => status === "broadcast" && replacedHashes.length > 0,
  );
  expect([bumped.nonce, bumped.replacedHashes]).toEqual([
    first.nonce,
    expect.arrayContaining([first.hash]),
  ]);
  await expectPaidOnce(started);
  const mined = await transaction(({ status }) => status === "final");
  expect([...mined.replacedHashes, mined.hash]).toContain(mined.minedHash);
});

test("an operation whose transaction the node has dropped is sent again as it was", async () => {
  const started = await start();
  const first = await transaction(({ status }) => status === "broadcast");
  await one.client.dropTransaction({ hash: first.hash as Hex });
  await vi.waitFor(async () => expect(await isKnown(first.hash)).toBe(true), WAIT);
  expect((await transaction(() => true)).nonce).toBe(first.nonce);
  await expectPaidOnce(started);
});

test("an operation is found in the cheaper transaction where that is mined after the dearer one was signed", async () => {
  const started = await start();
  const first = await transaction(({ status }) => status === "broadcast");
  // The replacement is accepted but never included.
  proxy.on({ fault: { kind: "swallow" }, methods: ["eth_sendRawTransaction"] });
  clock.offsetMs = 10_000;
  const bumped = await transaction(({ replacedHashes }) => replacedHashes.length > 0);
  expect(bumped.replacedHashes).toContain(first.hash);
  await one.mine(1);
  expect((await one.client.getTransactionReceipt({ hash: first.hash as Hex })).status).toBe(
    "success",
  );
  await expectPaidOnce(started);
  expect(await transaction(({ status }) => status === "final")).toMatchObject({
    minedHash: first.hash,
  });
});

test("several that the node lost are all carried on, in their order", async () => {
  const lost = proxy.on({
    fault: { kind: "swallow" },
    methods: ["eth_sendRawTransaction"],
    times: 3,
  });
  for (const started of await startSeveral(3)) await expectPaidOnce(started);
  expect(lost.hits).toBeGreaterThan(0);
});
