/**
 * Drafts in the dry run, and stored evaluations, as the pages of policies and operations show them.
 */
import { describe, expect, test } from "vitest";
import type { ApiError } from "@/lib/api-client/client";
import { getOperation } from "@/lib/contracts/operations";
import {
  evaluatePolicies,
  getPolicies,
  getPolicyEvaluation,
  listPolicyVersions,
} from "@/lib/contracts/policies";
import type { BodyInput } from "@/lib/contracts/contract";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";

const CHAIN = 31337;
const api = await testApi();

type Draft = NonNullable<BodyInput<typeof evaluatePolicies>["draft"]>;

const tryDraft = (of: Customer, draft?: Draft, over: { keyId?: string } = {}) =>
  of.session.client.call(evaluatePolicies, {
    body: {
      ...{ fromWalletId: of.treasuryId, fromChainId: CHAIN, token: "USDC", amount: "100" },
      toAddress: testAccount().address,
      ...over,
      ...(draft === undefined ? {} : { draft }),
    },
  });

describe("a draft in the dry run", () => {
  test("takes the place of the stored version, which stays as it is", async () => {
    const of = await newCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "50" } },
    });
    expect((await tryDraft(of)).decision).toBe("deny");
    expect((await tryDraft(of, { scope: "project", rules: {} })).decision).toBe("allow");
    const looser = await tryDraft(of, {
      scope: "project",
      rules: { perOperation: { usd: "500" } },
    });
    expect(looser).toMatchObject({
      decision: "allow",
      rules: [{ version: 2, rule: "perOperation.usd" }],
    });
    const { data } = await of.session.client.call(listPolicyVersions, {
      query: { scope: "project" },
    });
    expect(data.map(({ version, rules }) => ({ version, rules }))).toEqual([
      { version: 1, rules: { perOperation: { usd: "50" } } },
    ]);
    expect((await tryDraft(of)).decision).toBe("deny");
  });

  test("of a wallet or key stands beside the policies of the others", async () => {
    const of = await newCustomer(api);
    const key = await api.createKey(of.session);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "500" } },
    });
    const rules = { tokens: [{ chainId: CHAIN, token: "DAI" }] };
    const wallet = await tryDraft(of, { scope: "wallet", subjectId: of.treasuryId, rules });
    expect(wallet.decision).toBe("deny");
    expect(
      wallet.rules.map(({ scope, version, outcome }) => [scope, version, outcome]),
    ).toEqual([
      ["project", 1, "allow"],
      ["wallet", 1, "deny"],
    ]);
    const ofKey = { scope: "key" as const, subjectId: key.id, rules: { chains: [31338] } };
    expect((await tryDraft(of, ofKey)).decision).toBe("allow");
    expect((await tryDraft(of, ofKey, { keyId: key.id })).decision).toBe("deny");
    expect((await of.session.client.call(getPolicies, {})).policies).toHaveLength(1);
  });

  test("of what is not the project's, or names what does not exist, is refused", async () => {
    const [of, other] = [await newCustomer(api), await newCustomer(api)];
    const foreign = { scope: "wallet" as const, subjectId: other.treasuryId, rules: {} };
    await expect(tryDraft(of, foreign)).rejects.toMatchObject({
      status: 404,
      code: "not_found",
    });
    await expect(
      tryDraft(of, { scope: "project", rules: { chains: [424242] } }),
    ).rejects.toMatchObject({
      code: "unsupported_chain",
    });
  });
});

test("the evaluation of an operation, and of a request that was refused, can be read in its project alone", async () => {
  const [of, other] = [await newCustomer(api), await newCustomer(api)];
  await fund(of.session.client, of.treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { perOperation: { usd: "50" } },
  });
  const key = await api.createKey(of.session, { otp: "exempt", dailyCapUsd: "1000" });
  const send = (amount: string) =>
    key.client.call(swapAndTransfer, {
      body: {
        ...{
          fromWalletId: of.treasuryId,
          fromChainId: CHAIN,
          toChainId: CHAIN,
          fromToken: "USDC",
          toToken: "USDC",
        },
        ...{ amount, recipient: testAccount().address },
      },
    });
  const { operationId } = await send("20");
  const { evaluationId } = await of.session.client.call(getOperation, {
    params: { id: operationId },
  });
  const read = (customer: Customer, id: string) =>
    customer.session.client.call(getPolicyEvaluation, { params: { id } });
  expect(await read(of, evaluationId ?? "")).toMatchObject({
    id: evaluationId,
    subject: { type: "operation", id: operationId },
    decision: "allow",
    createdBy: key.id,
    rules: [{ rule: "perOperation.usd", outcome: "allow", scope: "project", version: 1 }],
  });

  const refusal = (await send("60").catch((error: unknown) => error)) as ApiError;
  const { evaluationId: refused } = refusal.body as { evaluationId: string };
  expect(await read(of, refused)).toMatchObject({
    decision: "deny",
    rules: [{ rule: "perOperation.usd", outcome: "deny" }],
  });
  await expect(read(other, refused)).rejects.toMatchObject({ status: 404, code: "not_found" });
});
