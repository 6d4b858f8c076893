import { parseUnits, type Address } from "viem";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { getOperation } from "@/lib/contracts/operations";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { testDevnet } from "@/lib/dev/testing/devnet";
import {
  startFaultProxy,
  type ActiveRule,
  type Fault,
  type Rule,
} from "@/lib/dev/testing/fault-proxy";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type Customer,
  type OperationAnswer,
} from "@/lib/dev/testing/journey";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
/** Shorter than the real registry's time-out, so that a hanging node does not delay the tests. */
const RPC_TIMEOUT_MS = 2_000;
const SLOW_MS = 2 * RPC_TIMEOUT_MS;

const devnet = await testDevnet();
const proxies = new Map(
  await Promise.all(
    devnet.chains.map(
      async ({ id, rpcUrls: [url = ""] }) => [id, await startFaultProxy(url)] as const,
    ),
  ),
);
afterAll(() => Promise.all([...proxies.values()].map((proxy) => proxy.close())));
afterEach(() => {
  for (const proxy of proxies.values()) proxy.clear();
  clock.offsetMs = 0;
});
const proxied = devnet.chains.map((chain) => ({
  ...chain,
  rpcUrls: [proxies.get(chain.id)?.url ?? ""],
}));

const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) };
const api = await testApi({
  worker: true,
  overrides: { clock, registry: createChainRegistry(proxied, { timeoutMs: RPC_TIMEOUT_MS }) },
});

const usdcOf = (chainId: number, owner: Address): Promise<bigint> =>
  balanceOnChain(
    devnet.rpcUrls[String(chainId)] ?? "",
    api.services.registry.resolveToken(chainId, "USDC").address,
    owner,
  );

/** Activates the rule on the proxy of each chain. */
const on = (chainIds: readonly number[], rule: Rule): ActiveRule[] =>
  chainIds.map((chainId) => {
    const proxy = proxies.get(chainId);
    if (proxy === undefined) throw new Error(`Chain ${String(chainId)} has no proxy.`);
    return proxy.on(rule);
  });

interface Order {
  readonly customer: Customer;
  readonly recipient: Address;
  readonly quoteId: string;
}

const BROADCAST_FAULTS: readonly (readonly [string, Fault])[] = [
  ["that is never answered", { kind: "hang" }],
  ["that is answered late", { kind: "delay", ms: SLOW_MS }],
  ["that is answered with HTTP 500", { kind: "status", status: 500 }],
  ["that is answered with garbage", { kind: "garbage", body: "<html>busy</html>" }],
  ["whose answer is lost", { kind: "lose_answer" }],
  ["that is accepted and lost", { kind: "swallow" }],
  ["that is refused as already known", { kind: "error", message: "already known" }],
  ["that is refused for a low nonce", { kind: "error", message: "nonce too low" }],
  [
    "that is refused as a replacement",
    { kind: "error", message: "replacement transaction underpriced" },
  ],
];

const NODE_FAULTS: readonly (readonly [string, Rule])[] = [
  ["that does not answer at times", { fault: { kind: "hang" }, after: 3, times: 4 }],
  ["that answers HTTP 500 for a while", { fault: { kind: "status", status: 500 }, times: 6 }],
  [
    "that talks nonsense for a while",
    { fault: { kind: "garbage", body: '{"jsonrpc":"2.0"}' }, times: 6 },
  ],
  [
    "that limits us",
    { fault: { kind: "error", message: "limit exceeded", code: -32005 }, after: 2, times: 8 },
  ],
  ["that loses its answers", { fault: { kind: "lose_answer" }, after: 2, times: 10 }],
  ["that is slow", { fault: { kind: "delay", ms: 150 } }],
  ["that lags three blocks behind", { fault: { kind: "lag", blocks: 3 } }],
];

const AWAY = [
  ["the source's", ONE],
  ["the destination's", TWO],
] as const;

const fundedCustomer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  const { session, treasury } = customer;
  await Promise.all([
    fund(session.client, treasury, { chainId: ONE, token: "USDC", amount: "30" }),
    fund(session.client, treasury, { chainId: TWO, token: "DAI", amount: "20" }),
  ]);
  return customer;
};

/**
 * One customer for each order. They are funded together, because each funding waits for a block.
 */
const customers = await Promise.all(
  Array.from(
    { length: BROADCAST_FAULTS.length + NODE_FAULTS.length + AWAY.length },
    fundedCustomer,
  ),
);

/** One source is swapped on its chain, and the other comes over the bridge. */
const order = async (): Promise<Order> => {
  const customer = customers.pop();
  if (customer === undefined) throw new Error("Every customer has an order already.");
  const { treasury } = customer;
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [
      { address: treasury, chainId: ONE, token: "USDC", amount: "25" },
      { address: treasury, chainId: TWO, token: "DAI", amount: "20" },
    ],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: recipient,
  });
  return { customer, recipient, quoteId };
};

const execute = async ({ customer, quoteId }: Order): Promise<string> => {
  const { operationId } = await customer.session.client.call(executeSwap, {
    body: { quoteId },
  });
  return operationId;
};

const expectPaidOnce = async (
  { customer, recipient }: Order,
  operation: OperationAnswer,
): Promise<void> => {
  expect(operation).toMatchObject({ status: "completed", subStatus: "full", failure: null });
  expect(await usdcOf(TWO, recipient)).toBe(BigInt(operation.actual.received.amountBase));
  expect(await usdcOf(ONE, customer.treasury)).toBe(parseUnits("5", 6));
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
};

const carryOn = async (mine: Order): Promise<void> => {
  const operation = await waitUntilFinal(mine.customer.session.client, await execute(mine));
  await expectPaidOnce(mine, operation);
};

const EVERYWHERE = [ONE, TWO];

describe("a broadcast", () => {
  test.each(BROADCAST_FAULTS)("%s moves the money once", async (_, fault) => {
    const mine = await order();
    const rules = on(EVERYWHERE, { fault, methods: ["eth_sendRawTransaction"], times: 2 });
    await carryOn(mine);
    for (const rule of rules) expect(rule.hits).toBeGreaterThan(0);
  });
});

describe("a node", () => {
  test.each(NODE_FAULTS)("%s delays, and no more", async (_, rule) => {
    const mine = await order();
    const operationId = await execute(mine);
    const rules = on(EVERYWHERE, rule);
    const operation = await waitUntilFinal(mine.customer.session.client, operationId);
    for (const one of rules) expect(one.hits).toBeGreaterThan(0);
    for (const one of rules) one.off();
    await expectPaidOnce(mine, operation);
  });
});

describe("a chain that is away", () => {
  test.each(AWAY)(
    "(%s) shows as delayed after its time, and the money arrives once it is back",
    async (_, chainId) => {
      const mine = await order();
      const { client } = mine.customer.session;
      const [rule] = on([chainId], { fault: { kind: "status", status: 503 }, after: 8 });
      const operationId = await execute(mine);
      clock.offsetMs = 45_000;
      await vi.waitFor(
        async () => {
          const { status, subStatus } = await client.call(getOperation, {
            params: { id: operationId },
          });
          expect({ status, subStatus }).toEqual({ status: "processing", subStatus: "delayed" });
          expect(rule?.hits).toBeGreaterThan(0);
        },
        { timeout: 30_000, interval: 100 },
      );
      rule?.off();
      await expectPaidOnce(mine, await waitUntilFinal(client, operationId));
    },
  );
});

test("a quote over a chain that sends garbage is refused with chain_unavailable", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: THREE,
    token: "USDC",
    amount: "5",
  });
  for (const body of ["<html>busy</html>", '{"jsonrpc":"2.0"}', "[]"]) {
    const [rule] = on([THREE], { fault: { kind: "garbage", body } });
    const quote = prepareQuote(api, customer, {
      from: [{ address: customer.treasury, chainId: THREE, token: "USDC", amount: "5" }],
      toChainId: THREE,
      toToken: "WETH",
      toAddress: customer.treasury,
    });
    await expect(quote, body).rejects.toMatchObject({ code: "chain_unavailable" });
    rule?.off();
  }
});
