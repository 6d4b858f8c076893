import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseUnits,
  publicActions,
  type Address,
  type Hash,
} from "viem";
import { afterAll, describe, expect, test, vi } from "vitest";
import { chainsFile } from "@/lib/platform/config/chains";
import { listEvents } from "@/lib/contracts/events";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { ignoreDepositsOf } from "@/lib/dev/testing/hub";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import { startWorker } from "@/lib/workers/runner";
import { afterFile } from "@/lib/dev/testing/after-file";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
const FILL_DEADLINE_SECONDS = 6;

/** The configuration of the local chains with a deadline short enough for a test. */
const impatientChains = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const { chains } = chainsFile.parse(
    JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")),
  );
  for (const { contracts } of chains) {
    if (contracts.across) contracts.across.fillDeadlineSeconds = FILL_DEADLINE_SECONDS;
  }
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }));
  return file;
};

const api = await testApi({ variables: { CHAINS_FILE: impatientChains() } });
const worker = { current: startWorker(api.services) };
afterAll(() => worker.current.stop());

const rpcUrl = (chainId: number): string => api.services.registry.get(chainId).rpcUrls[0] ?? "";
const usdc = (chainId: number): Address => {
  const { address } = api.services.registry.resolveToken(chainId, "USDC");
  if (address === "native") throw new Error("USDC is a contract.");
  return address;
};
const usdcOf = (chainId: number, owner: Address): Promise<bigint> =>
  balanceOnChain(rpcUrl(chainId), usdc(chainId), owner);

describe("a deposit that nobody fills", () => {
  test("is sent back after its deadline, and the record says where the money is", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    await ignoreDepositsOf(customer.treasury);
    await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "25" });
    const recipient = testAccount().address;
    const quote = await prepareQuote(api, customer, {
      from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "25" }],
      toChainId: TWO,
      toToken: "USDC",
      toAddress: recipient,
    });
    const { operationId } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId },
    });
    const operation = await waitUntilFinal(client, operationId, 60_000);
    expect(operation).toMatchObject({
      status: "refunded",
      failure: { code: "not_filled", retryable: true },
    });
    expect(operation.legs[0]).toMatchObject({ state: "refunded", refund: { chainId: ONE } });
    expect(operation.outcome.holds).toEqual([
      expect.objectContaining({ wallet: customer.treasury, chainId: ONE, amount: "25" }),
    ]);
    expect(await usdcOf(ONE, customer.treasury)).toBe(parseUnits("25", 6));
    expect(await usdcOf(TWO, recipient)).toBe(0n);
  }, 180_000);

  test("takes nothing from the other sources: the operation ends as partially completed", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    await ignoreDepositsOf(customer.treasury);
    await Promise.all([
      fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "10" }),
      fund(client, customer.treasury, { chainId: THREE, token: "DAI", amount: "30" }),
    ]);
    const recipient = testAccount().address;
    const quote = await prepareQuote(api, customer, {
      from: [
        { address: customer.treasury, chainId: ONE, token: "USDC", amount: "10" },
        { address: customer.treasury, chainId: THREE, token: "DAI", amount: "30" },
      ],
      toChainId: THREE,
      toToken: "USDC",
      toAddress: recipient,
    });
    const { operationId } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId },
    });
    const operation = await waitUntilFinal(client, operationId, 60_000);
    expect(operation).toMatchObject({
      status: "partially_completed",
      subStatus: "partial",
      may: { retry: true },
    });
    expect(operation.outcome.nextAction).toContain(`The rest is in ${customer.treasury}`);
    // Events get their sequence, and are listed, a little after they happened.
    const reported = await vi.waitFor(async () => {
      const { data } = await client.call(listEvents, { query: { limit: 1000 } });
      const end = data.find(
        (event) =>
          event.objectId === operationId &&
          event.data?.status !== "processing" &&
          event.type !== "operation.created",
      );
      expect(end).toBeDefined();
      return end;
    }, 30_000);
    expect(reported).toMatchObject({
      type: "operation.partially_completed",
      data: {
        status: "partially_completed",
        subStatus: "partial",
        failure: { code: "not_filled" },
      },
    });
    expect(operation.legs.map((leg) => leg.status)).toEqual(["refunded", "completed"]);
    const received = await usdcOf(THREE, recipient);
    expect(operation.actual.received.amountBase).toBe(received.toString());
    expect(received).toBeGreaterThanOrEqual(
      BigInt(operation.legs[1]?.minimum.amountBase ?? "0"),
    );
    expect(await usdcOf(ONE, customer.treasury)).toBe(parseUnits("10", 6));
    expect(operation.outcome.holds.map(({ wallet, amount }) => [wallet, amount])).toEqual(
      expect.arrayContaining([[customer.treasury, "10"]]),
    );
  }, 180_000);
});

test("a source that the chain refuses fails with its money in the wallet, and is held no longer", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "41" });
  // The first operation deploys the account, because anvil cannot impersonate an account that is
  // not deployed yet.
  const first = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "1" }],
    toChainId: ONE,
    toToken: "USDC",
    toAddress: testAccount().address,
  });
  await waitUntilFinal(
    client,
    (await client.call(executeSwap, { body: { quoteId: first.quoteId } })).operationId,
  );
  const quote = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "40" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: testAccount().address,
  });
  // The worker is stopped while the test takes the money out of the wallet.
  await worker.current.stop();
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const thief = createTestClient({ mode: "anvil", transport: http(rpcUrl(ONE)) }).extend(
    publicActions,
  );
  await thief.impersonateAccount({ address: customer.treasury });
  await thief.setBalance({ address: customer.treasury, value: parseUnits("1", 18) });
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [testAccount().address, parseUnits("39", 6)],
  });
  const hash: Hash = await thief.request({
    method: "eth_sendTransaction" as never,
    params: [{ from: customer.treasury, to: usdc(ONE), data }] as never,
  });
  const { status } = await thief.waitForTransactionReceipt({ hash, pollingInterval: 100 });
  expect(status).toBe("success");
  worker.current = startWorker(api.services);
  const operation = await waitUntilFinal(client, operationId);
  expect(operation.status).toBe("failed");
  expect(operation.legs[0]).toMatchObject({ state: "failed" });
  expect(operation.failure?.message).toContain("wallet");
  const held = await api.services.database.prisma.balanceHold.count({
    where: { operationId, releasedAt: null },
  });
  expect(held).toBe(0);
});

test("what was under way when all workers stopped is carried on by the next one", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: TWO, token: "USDC", amount: "12" });
  const recipient = testAccount().address;
  const quote = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: TWO, token: "USDC", amount: "12" }],
    toChainId: ONE,
    toToken: "USDC",
    toAddress: recipient,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  await worker.current.stop();
  worker.current = startWorker(api.services);
  const operation = await waitUntilFinal(client, operationId);
  expect(operation.status).toBe("completed");
  expect(await usdcOf(ONE, recipient)).toBe(BigInt(operation.actual.received.amountBase));
});
