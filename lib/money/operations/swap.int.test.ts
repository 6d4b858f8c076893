import { parseUnits, type Address } from "viem";
import { describe, expect, test } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type QuoteBody,
} from "@/lib/dev/testing/journey";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
const api = await testApi({ worker: true });
const { registry } = api.services;

const balance = (chainId: number, symbol: string, owner: Address): Promise<bigint> => {
  const { address } = registry.resolveToken(chainId, symbol);
  return balanceOnChain(registry.get(chainId).rpcUrls[0] ?? "", address, owner);
};

const twoSources = (treasury: Address, toAddress: Address): QuoteBody => ({
  from: [
    { address: treasury, chainId: ONE, token: "USDC", amount: "100" },
    { address: treasury, chainId: TWO, token: "USDT", amount: "50.5" },
  ],
  toChainId: THREE,
  toToken: "WETH",
  toAddress,
});

const fundTwoSources = async (
  customer: Awaited<ReturnType<typeof newCustomer>>,
): Promise<void> => {
  const { client } = customer.session;
  await Promise.all([
    fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "100" }),
    fund(client, customer.treasury, { chainId: TWO, token: "USDT", amount: "50.5" }),
  ]);
};

describe("a swap from two chains to a third", () => {
  test("delivers at least the minimum, and the record says what the chains say", async () => {
    const customer = await newCustomer(api);
    await fundTwoSources(customer);
    const recipient = testAccount().address;
    const { client } = customer.session;
    const quote = await prepareQuote(api, customer, twoSources(customer.treasury, recipient));
    const { operationId, status } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId },
    });
    expect(status).toBe("pending");

    const operation = await waitUntilFinal(client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full", failure: null });
    const received = await balance(THREE, "WETH", recipient);
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.to.minAmountBase));
    expect(operation.actual.received.amountBase).toBe(received.toString());
    const left = await Promise.all([
      balance(ONE, "USDC", customer.treasury),
      balance(TWO, "USDT", customer.treasury),
    ]);
    expect(operation.actual.spent.map((spent) => BigInt(spent.amountBase))).toEqual([
      parseUnits("100", 6) - left[0],
      parseUnits("50.5", 6) - left[1],
    ]);
    expect(
      operation.legs.every((leg) => leg.status === "completed" && leg.destination !== null),
    ).toBe(true);
    expect(operation.outcome.holds.some((held) => held.wallet === recipient)).toBe(true);
  });

  test("moves the money once when execute is called a hundred times at once", async () => {
    const customer = await newCustomer(api);
    await fundTwoSources(customer);
    // Funded twice, so that a second execution would have enough money to succeed.
    await fundTwoSources(customer);
    const recipient = testAccount().address;
    const { client } = customer.session;
    const quote = await prepareQuote(api, customer, twoSources(customer.treasury, recipient));
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        client.call(executeSwap, { body: { quoteId: quote.quoteId } }),
      ),
    );
    const [operationId = "", ...others] = new Set(answers.map((answer) => answer.operationId));
    expect(others).toEqual([]);
    const operation = await waitUntilFinal(client, operationId);
    expect(operation.status).toBe("completed");
    const received = await balance(THREE, "WETH", recipient);
    expect(operation.actual.received.amountBase).toBe(received.toString());
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("100", 6));
  });

  test("a key does the same as a person, with the code going to who made it", async () => {
    const customer = await newCustomer(api);
    await fund(customer.session.client, customer.treasury, {
      chainId: ONE,
      token: "USDC",
      amount: "20",
    });
    const key = await api.createKey(customer.session);
    const recipient = testAccount().address;
    const body: QuoteBody = {
      from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "20" }],
      toChainId: TWO,
      toToken: "USDC",
      toAddress: recipient,
    };
    const quote = await prepareQuote(api, customer, body, key.client);
    const { operationId } = await key.client.call(executeSwap, {
      body: { quoteId: quote.quoteId },
    });
    const operation = await waitUntilFinal(key.client, operationId);
    expect(operation.status).toBe("completed");
    expect(await balance(TWO, "USDC", recipient)).toBe(BigInt(quote.to.amountBase));
  });

  test("on one chain delivers native coins", async () => {
    const customer = await newCustomer(api);
    await fund(customer.session.client, customer.treasury, {
      chainId: ONE,
      token: "DAI",
      amount: "300",
    });
    const recipient = testAccount().address;
    const quote = await prepareQuote(api, customer, {
      from: [{ address: customer.treasury, chainId: ONE, token: "DAI", amount: "300" }],
      toChainId: ONE,
      toToken: "native",
      toAddress: recipient,
    });
    const { operationId } = await customer.session.client.call(executeSwap, {
      body: { quoteId: quote.quoteId },
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation.status).toBe("completed");
    const received = await balance(ONE, "native", recipient);
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.to.minAmountBase));
    expect(operation.actual.received.amountBase).toBe(received.toString());
  });
});

test("the event stream tells every step once, in order, resumes where it was left, and ends with the operation", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "15" });
  const quote = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "15" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: testAccount().address,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const read = async (lastEventId?: string): Promise<{ seq: number; type: string }[]> => {
    const response = await api.fetch(`/operations/${operationId}/events`, {
      headers: {
        authorization: `Bearer ${customer.session.accessToken}`,
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    // The stream ends by itself once the operation is final.
    const text = await response.text();
    return text
      .split("\n\n")
      .flatMap((block) => /^data: (\{.*"seq".*\})$/m.exec(block)?.[1] ?? [])
      .map((data) => JSON.parse(data) as { seq: number; type: string });
  };
  const events = await read();
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe("operation.created");
  expect(types.at(-1)).toBe("operation.completed");
  for (const step of ["leg.submitted", "leg.source_seen", "leg.filled_seen", "leg.completed"]) {
    expect(types.filter((type) => type === step)).toHaveLength(1);
  }
  expect(await read(String(events.length - 2))).toEqual(events.slice(-2));
});

test("two operations cannot promise the same money", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: ONE,
    token: "USDC",
    amount: "10",
  });
  const body: QuoteBody = {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "10" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: testAccount().address,
  };
  const first = await prepareQuote(api, customer, body);
  const second = await prepareQuote(api, customer, body);
  const { client } = customer.session;
  const answers = await Promise.allSettled(
    [first, second].map(({ quoteId }) => client.call(executeSwap, { body: { quoteId } })),
  );
  const accepted = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  expect(accepted).toHaveLength(1);
  const refused = answers.find((answer) => answer.status === "rejected");
  expect(refused?.reason).toMatchObject({ status: 422, code: "insufficient_balance" });
  const operation = await waitUntilFinal(client, accepted[0]?.operationId ?? "");
  expect(operation.status).toBe("completed");
});
