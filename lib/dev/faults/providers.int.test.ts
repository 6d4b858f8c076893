import { afterAll, expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { startWorker } from "@/lib/workers/runner";

const [ONE, TWO] = [31337, 31338];
const CONFIRMATIONS = 10;
/** Anvil's `safe` block is this far behind its newest one. */
const SAFE_BEHIND = 32;
const LAG = { kind: "lag", blocks: 6 } as const;
/** Answers of the lagging nodes for which the test waits. */
const ANSWERS = 6;
const MINE_EVERY_MS = 150;
const WAIT = { timeout: 30_000, interval: 50 };

const devnet = await ownDevnet();
const [one, two] = devnet.chains;
if (!one || !two) throw new Error("The devnet has no two chains.");
const proxies = [await startFaultProxy(one.rpcUrl), await startFaultProxy(two.rpcUrl)] as const;
const chainsFile = changedChainsFile((chain) => {
  chain.confirmations = CONFIRMATIONS;
  if (chain.id === ONE) chain.finality = "safe";
});
const variables = Object.fromEntries(
  devnet.chains.map(({ chainId, rpcUrl }, index) => [
    `RPC_URL_${chainId}`,
    [proxies[index]?.url, rpcUrl].filter((url) => url !== undefined).join(","),
  ]),
);
const api = await testApi({
  devnet: false,
  variables: { CHAINS_FILE: chainsFile, DEVNET: "1", ...variables },
});
const { database, registry } = api.services;
await devnet.serve(api.services.config);
const worker = startWorker(api.services);
afterAll(async () => {
  await worker.stop();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

test("first providers that fall behind take no move back, and a source is final at its chain's safe block", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "100" });
  await Promise.all([one, two].map((chain) => chain.mine(2 * SAFE_BEHIND)));
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "50" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: recipient,
  });
  await Promise.all([one, two].map((chain) => chain.hold()));
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  const legOf = () => database.prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  await vi.waitFor(async () => expect((await legOf()).state).toBe("filled_seen"), WAIT);

  // The source is searched by its event instead of its receipt, and these nodes lack the event too.
  const methods = [
    "eth_getLogs",
    "eth_getTransactionReceipt",
    "eth_blockNumber",
    "eth_getBlockByNumber",
    "eth_call",
  ];
  const rules = proxies.map((proxy) => proxy.on({ fault: LAG, methods }));
  await vi.waitFor(() => {
    for (const { hits } of rules) expect(hits).toBeGreaterThan(ANSWERS);
  }, WAIT);
  expect((await legOf()).state).toBe("filled_seen");
  proxies.forEach((proxy) => proxy.clear());

  const mine = (): void =>
    void Promise.all([one, two].map((chain) => chain.mine(1))).catch(() => undefined);
  const timer = setInterval(mine, MINE_EVERY_MS);
  const operation = await waitUntilFinal(client, operationId).finally(() => {
    clearInterval(timer);
  });
  expect(operation).toMatchObject({ status: "completed", failure: null });
  const events = await database.prisma.operationEvent.findMany({ where: { operationId } });
  expect(events.map(({ type }) => type)).not.toContain("leg.reorganised");
  const { sourceBlock } = await legOf();
  const head = await one.client.getBlockNumber({ cacheTime: 0 });
  expect(Number(head - (sourceBlock ?? head))).toBeGreaterThanOrEqual(SAFE_BEHIND);
  const usdc = registry.resolveToken(TWO, "USDC").address;
  expect(await balanceOnChain(two.rpcUrl, usdc, recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, [customer.treasury]);
});
