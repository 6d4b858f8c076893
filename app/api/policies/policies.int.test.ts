import { beforeAll, describe, expect, test } from "vitest";
import { getAuditLog, type PolicyInput, putRules } from "@/lib/dev/testing/policies";
import { getMe } from "@/lib/contracts/auth";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import {
  evaluatePolicies,
  getPolicies,
  listPolicyVersions,
  putPolicy,
} from "@/lib/contracts/policies";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer } from "@/lib/dev/testing/journey";
import { newMember } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi();
type Customer = Awaited<ReturnType<typeof newCustomer>>;
let customer: Customer;
beforeAll(async () => {
  customer = await newCustomer(api);
});

const put = (of: Customer, input: PolicyInput) => putRules(of.session, input);
const evaluate = (
  of: Customer,
  over: { amount?: string; toAddress?: `0x${string}`; fromWalletId?: string } = {},
) =>
  of.session.client.call(evaluatePolicies, {
    body: {
      ...{ fromWalletId: of.treasuryId, fromChainId: CHAIN, token: "USDC", amount: "100" },
      toAddress: testAccount().address,
      ...over,
    },
  });

describe("a policy", () => {
  test("is changed with an approval alone; every version is kept, and the change is in the audit log", async () => {
    const { client } = customer.session;
    const body = {
      scope: "project" as const,
      baseVersion: 0,
      rules: { perOperation: { usd: "50" } },
    };
    await expect(client.call(putPolicy, { body })).rejects.toMatchObject({
      status: 409,
      code: "approval_required",
    });
    expect((await client.call(getPolicies, {})).policies).toEqual([]);

    const first = await put(customer, body);
    const second = await put(customer, {
      scope: "project",
      baseVersion: 1,
      rules: { perOperation: { usd: "80" } },
    });
    expect([first.version, second.version]).toEqual([1, 2]);
    const { data } = await client.call(listPolicyVersions, { query: { scope: "project" } });
    expect(data).toEqual([second, first]);
    expect((await client.call(getPolicies, {})).policies).toEqual([second]);
    const [entry] = await getAuditLog(customer.session, "policy.changed");
    expect(entry).toMatchObject({
      subject: second.id,
      data: {
        before: ["One operation at most: 50 US dollars"],
        after: ["One operation at most: 80 US dollars"],
        approvedBy: "signature",
      },
    });
    // The owners are mailed about each version, with the rules before it.
    const about = { to: customer.email, subject: "The policy of your project was changed" };
    const mails = await api.services.database.prisma.mailOutbox.findMany({
      where: about,
      orderBy: { id: "asc" },
    });
    expect(mails).toHaveLength(2);
    expect(mails[0]?.text).toContain("Rules before:\n- No rule: no limit applies");
    for (const rule of [
      "Rules now:\n- One operation at most: 80",
      "Rules before:\n- One operation at most: 50",
    ])
      expect(mails[1]?.text).toContain(rule);
  });

  test("that was changed meanwhile is not overwritten", async () => {
    const stale = { scope: "project" as const, baseVersion: 1, rules: {} };
    await expect(put(customer, stale)).rejects.toMatchObject({
      status: 409,
      code: "invalid_state",
    });
  });

  test("of two changes at the same time stores one", async () => {
    const of = await newCustomer(api);
    const change = (usd: string) =>
      put(of, { scope: "project", baseVersion: 0, rules: { perDay: { usd } } });
    const outcomes = await Promise.allSettled([change("1"), change("2"), change("3")]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(
      (await of.session.client.call(listPolicyVersions, { query: { scope: "project" } })).data,
    ).toHaveLength(1);
  });

  test("refuses a version that no database can hold", async () => {
    const { session } = await newCustomer(api);
    const before = String(2 ** 31);
    const asked = session.client.call(listPolicyVersions, {
      query: { scope: "project", before },
    });
    await expect(asked).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("names tokens by address, refuses what does not exist, and wallets and keys of other projects", async () => {
    const of = await newCustomer(api);
    const saved = await put(of, {
      scope: "wallet",
      subjectId: of.treasuryId,
      baseVersion: 0,
      rules: { tokens: [{ chainId: CHAIN, token: "USDC" }] },
    });
    expect(saved.rules.tokens?.[0]?.token).toMatch(/^0x[0-9a-f]{40}$/);
    const unknownChain = {
      scope: "project" as const,
      baseVersion: 0,
      rules: { chains: [424242] },
    };
    await expect(put(of, unknownChain)).rejects.toMatchObject({ code: "unsupported_chain" });
    const foreign = {
      scope: "wallet" as const,
      subjectId: customer.treasuryId,
      baseVersion: 0,
      rules: {},
    };
    await expect(put(of, foreign)).rejects.toMatchObject({ status: 404 });
    const nowhere = {
      scope: "project" as const,
      baseVersion: 0,
      rules: { hours: { timeZone: "Mars/Olympus" } },
    };
    await expect(put(of, nowhere as never)).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
    });
  });
});

describe("the dry run", () => {
  test("allows everything without a policy, and names what a policy refuses", async () => {
    const of = await newCustomer(api);
    expect(await evaluate(of)).toEqual({
      decision: "allow",
      code: "not",
      rules: [],
      approval: null,
    });
    const projectId = (await of.session.client.call(getMe)).projects[0]?.id ?? "";
    for (const role of ["owner", "owner"] as const) await newMember(api, projectId, role);
    const approvals = {
      aboveUsd: "10",
      count: 2,
      roles: ["owner" as const],
      excludeMaker: true,
    };
    const rules = {
      perOperation: { usd: "50" },
      code: { mode: "above" as const, usd: "5" },
      approvals,
    };
    const policy = await put(of, { scope: "project", baseVersion: 0, rules });
    expect(await evaluate(of, { amount: "4" })).toMatchObject({
      decision: "allow",
      code: "not",
    });
    expect(await evaluate(of, { amount: "20" })).toMatchObject({
      decision: "needs_approval",
      code: "required",
      approval: { count: 2, roles: ["owner"], excludeMaker: true },
    });
    const denied = await evaluate(of);
    expect(denied.decision).toBe("deny");
    expect(denied.rules).toContainEqual(
      expect.objectContaining({
        policyId: policy.id,
        rule: "perOperation.usd",
        outcome: "deny",
        field: "amount",
      }),
    );
  });

  test("takes the strictest of project, wallet and key", async () => {
    const of = await newCustomer(api);
    const key = await api.createKey(of.session);
    await put(of, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "1000" } },
    });
    await put(of, {
      scope: "wallet",
      subjectId: of.treasuryId,
      baseVersion: 0,
      rules: { chains: [CHAIN] },
    });
    await put(of, {
      scope: "key",
      subjectId: key.id,
      baseVersion: 0,
      rules: { perOperation: { usd: "50" } },
    });
    expect((await evaluate(of)).decision).toBe("allow");
    const body = {
      fromWalletId: of.treasuryId,
      fromChainId: CHAIN,
      token: "USDC",
      amount: "100",
    };
    const own = await key.client.call(evaluatePolicies, {
      body: { ...body, toAddress: testAccount().address },
    });
    expect(own.decision).toBe("deny");
  });

  test("of another project's wallet is refused", async () => {
    const other = await newCustomer(api);
    await expect(evaluate(other, { fromWalletId: customer.treasuryId })).rejects.toMatchObject({
      code: "unknown_wallet",
    });
  });
});

test("a contact is proposed until an owner approves it with a signature, and again once it has another name; the list of approved contacts follows", async () => {
  const of = await newCustomer(api);
  const { client, account } = of.session;
  await put(of, {
    scope: "project",
    baseVersion: 0,
    rules: { recipients: "approved_contacts" },
  });
  const { address } = testAccount();
  expect((await evaluate(of, { toAddress: address })).decision).toBe("deny");
  const contact = await client.call(createContact, { body: { name: "Ada", address } });
  expect(contact).toMatchObject({ state: "proposed", approvedAt: null });
  expect((await evaluate(of, { toAddress: address })).decision).toBe("deny");
  const approved = await withApproval(account, (approval) =>
    client.call(approveContact, {
      params: { id: contact.id },
      body: approval ? { approval } : {},
    }),
  );
  expect(approved.state).toBe("approved");
  expect((await evaluate(of, { toAddress: address })).decision).toBe("allow");
  await client.call(createContact, { body: { name: "Ada Lovelace", address } });
  expect((await evaluate(of, { toAddress: address })).decision).toBe("deny");
});
