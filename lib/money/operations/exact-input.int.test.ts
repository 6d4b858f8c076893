/**
 * A bridged swap spends one exact amount, and the quote, the review, the record and the statements
 * all show that amount.
 */
import { parseUnits, type Address } from "viem";
import { describe, expect, test } from "vitest";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, newCustomer, waitUntilFinal, type Customer } from "@/lib/dev/testing/journey";
import {
  allowPermit2,
  doActions,
  narrowBridgeChains,
  plainWallet,
} from "@/lib/dev/testing/own-wallets";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";

const [ONE, TWO, THREE] = [31337, 31338, 31339];

const api = await testApi({ worker: true, variables: { CHAINS_FILE: narrowBridgeChains() } });
const devnet = await testDevnet();
const { balance, give } = walletBalances(api);

/** The lines of a CSV answer as objects by column name. The cells of this file hold no commas. */
const csvOf = async (
  { session }: Customer,
  path: string,
): Promise<Record<string, string>[]> => {
  const response = await api.fetch(path, {
    headers: { authorization: `Bearer ${session.accessToken}` },
  });
  const [header = "", ...lines] = (await response.text()).trim().split("\r\n");
  const names = header.split(",");
  return lines.map((line) =>
    Object.fromEntries(line.split(",").map((cell, index) => [names[index] ?? "", cell])),
  );
};

/** Sells the wallet's whole balance over the bridge, which does not carry its token. */
const sellAll = async (
  customer: Customer,
  wallet: Address,
  sold: { readonly chainId: number; readonly token: string; readonly amount: string },
  to: { readonly toChainId: number; readonly toToken: string },
) => {
  const { client } = customer.session;
  await give(customer, wallet, sold.chainId, sold.token, sold.amount);
  const seen = await codesOf(api, customer);
  const quote = await client.call(createQuote, {
    body: { from: [{ address: wallet, ...sold }], ...to, toAddress: testAccount().address },
  });
  await client.call(requestOtp, { body: { quoteId: quote.quoteId } });
  const otp = await api.readCode(customer.email, seen);
  return {
    quote,
    prepared: await client.call(prepareSwap, { body: { quoteId: quote.quoteId, otp } }),
  };
};

describe.each([
  {
    by: "treasury",
    sold: { chainId: ONE, token: "DAI", amount: "100000" },
    to: { toChainId: THREE, toToken: "WETH" },
  },
  {
    by: "wallet",
    sold: { chainId: TWO, token: "USDT", amount: "1234.567891" },
    to: { toChainId: ONE, toToken: "USDC" },
  },
  {
    by: "permit",
    sold: { chainId: TWO, token: "DAI", amount: "77.000000000000000001" },
    to: { toChainId: ONE, toToken: "native" },
  },
] as const)("all of the $sold.amount $sold.token of a $by", ({ by, sold, to }) => {
  test("leave it, as quote, review, record and statements say, and nothing of the bridged token comes into it", async () => {
    const customer = await newCustomer(api);
    const linked = by === "treasury" ? null : await plainWallet(devnet, customer);
    const wallet = linked?.address ?? customer.treasury;
    const amountBase = parseUnits(
      sold.amount,
      api.services.registry.resolveToken(sold.chainId, sold.token).decimals,
    );
    if (by === "permit" && linked !== null)
      await allowPermit2(api, linked, { ...sold, amountBase });
    const { quote, prepared } = await sellAll(customer, wallet, sold, to);
    const kinds = {
      treasury: [],
      wallet: ["transaction", "transaction"],
      permit: ["typed_data"],
    }[by];
    expect(prepared.actions.map(({ kind }) => kind)).toEqual(kinds);
    const signatures = await doActions(api, linked === null ? [] : [linked], prepared.actions);
    const { operationId } = await customer.session.client.call(executeSwap, {
      body: { quoteId: quote.quoteId, signatures },
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });

    expect(quote.from[0]?.amount).toBe(sold.amount);
    expect(quote.steps[0]).toMatchObject({ kind: "swap", amountIn: sold.amount });
    expect(prepared.simulation.balanceChanges[0]).toMatchObject({
      walletAddress: wallet,
      token: { symbol: sold.token },
      change: `-${sold.amount}`,
    });
    expect(operation.actual.spent.map(({ amount }) => amount)).toEqual([sold.amount]);
    expect(operation.legs[0]?.spent?.amount).toBe(sold.amount);
    expect(operation.outcome.holds.map((held) => held.wallet)).toEqual([quote.to.address]);
    const [line] = await csvOf(customer, "/operations/export");
    expect(line).toMatchObject({
      operation_id: operationId,
      sent: sold.amount,
      spent: sold.amount,
    });
    const [statement] = (await csvOf(customer, "/activity/export")).filter(
      ({ id }) => id === operationId,
    );
    expect(statement).toMatchObject({ sent: sold.amount, sent_token: sold.token });

    expect(await balance(sold.chainId, sold.token, wallet)).toBe(0n);
    for (const holder of [wallet, customer.treasury])
      expect(await balance(sold.chainId, "USDC", holder)).toBe(0n);
    const received = await balance(to.toChainId, to.toToken, quote.to.address);
    expect(operation.actual.received.amountBase).toBe(received.toString());
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.to.minAmountBase));
  });
});
