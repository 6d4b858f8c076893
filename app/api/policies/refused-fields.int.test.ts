/**
 * A refusal by a policy names the field that the caller sent, before pricing and at acceptance
 * alike.
 */
import { beforeAll, expect, test } from "vitest";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { createQuote } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { putRules } from "@/lib/dev/testing/policies";
import { refusalOf } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi();
let of: FundedCustomer;
let version = 0;

beforeAll(async () => {
  of = await fundedCustomer(api);
});

const rule = async (rules: PolicyRules): Promise<void> => {
  await putRules(of.session, { scope: "project", baseVersion: version, rules });
  version += 1;
};

const pathsOf = async (calling: Promise<unknown>): Promise<string[]> => {
  const { code, details } = await refusalOf(calling);
  expect(code).toBe("policy_violation");
  return details.map(({ path }) => path);
};

const quote = () => {
  const from = [{ address: of.treasury, chainId: CHAIN, token: "USDC", amount: "1" }];
  const body = { from, toChainId: CHAIN, toToken: "USDT", toAddress: testAccount().address };
  return of.client.call(createQuote, { body });
};

const transfer = () => {
  const at = {
    fromWalletId: of.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
  };
  return of.client.call(createTransfer, {
    body: { ...at, amount: "1", toAddress: testAccount().address },
  });
};

test.each([
  [{ recipients: "approved_contacts" }, ["toAddress", "toAddress", "recipient"]],
  [{ newRecipientHours: 24 }, ["toAddress", "toAddress", "recipient"]],
  [{ chains: [31338] }, ["toChainId", "toChainId", "toChainId"]],
  [{ tokens: [{ chainId: CHAIN, token: "WETH" }] }, ["from", "token", "fromToken"]],
] as const)(
  "%j names the fields of the quote, the transfer, and the swap with transfer",
  async (rules, fields) => {
    await rule(rules as unknown as PolicyRules);
    const calls = [quote, transfer, () => sendUsdc(of, "1")];
    for (const [index, call] of calls.entries())
      expect(await pathsOf(call())).toEqual([fields[index]]);
  },
);
