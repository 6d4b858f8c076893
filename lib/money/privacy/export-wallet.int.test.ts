/**
 * Showing the key of a private wallet, which bypasses every rule, and payments to wallets whose key
 * was shown.
 */
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { updatePolicies } from "@/lib/contracts/policies";
import type { PolicyRules, PolicyScope } from "@/lib/contracts/policy-rules";
import {
  createPrivacyWallet,
  exportPrivacyWallet,
  listPrivacyWallets,
  privateTransfer,
  shield,
  unshield,
} from "@/lib/contracts/privacy";
import {
  executePrivateSwap,
  preparePrivateSwap,
  quotePrivateSwap,
} from "@/lib/contracts/privacy-swap";
import type { TestApiKey, TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { EVERY_RULE } from "@/lib/dev/testing/every-rule";
import { testAccount } from "@/lib/dev/testing/factories";
import { putRules } from "@/lib/dev/testing/policies";
import { privateMoney } from "@/lib/dev/testing/private-money";
import {
  demandVotes,
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const money = await privateMoney();
const { api, chainId, clock, services } = money;
const { prisma } = services.database;
const TWO = { count: 2, roles: ["admin" as const, "operator" as const], excludeMaker: true };
const HOUR_MS = 3_600_000;
/** These rules are about proofs: a code is requested, and votes are counted. */
const PROOFS: readonly string[] = ["code", "approvals"];

let session: TestSession;
let projectId = "";
let email = "";
let treasuryId = "";
let key: TestApiKey;
let voters: readonly [TestMember, TestMember];

beforeAll(async () => {
  session = await api.signIn();
  email = await api.verifiedEmail(session);
  projectId = (await session.client.call(getMe)).projects[0]?.id ?? "";
  treasuryId = (await services.wallets.treasury(projectId))?.id ?? "";
  voters = [
    await newMember(api, projectId, "admin"),
    await newMember(api, projectId, "operator"),
  ];
  // A rule is accepted if enough people can vote even when one of them makes the request.
  for (const role of ["admin", "operator"] as const) await newMember(api, projectId, role);
  key = await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000000" });
}, 120_000);

const newWallet = async (name = "Payroll"): Promise<string> =>
  (await session.client.call(createPrivacyWallet, { body: { name } })).id;
const put = async (
  rules: PolicyRules,
  scope: PolicyScope = "project",
  subjectId?: string,
): Promise<void> => {
  const at = { projectId, scope, subjectId: subjectId ?? projectId };
  const baseVersion = await prisma.policy.count({ where: at });
  await putRules(session, {
    scope,
    baseVersion,
    rules,
    ...(subjectId === undefined ? {} : { subjectId }),
  });
};
const take = (id: string, by: Pick<TestSession, "account" | "client"> = session) =>
  withApproval(by.account, (approval) =>
    by.client.call(exportPrivacyWallet, { params: { id }, body: approval ? { approval } : {} }),
  );
const walletOf = (id: string) => prisma.privacyWallet.findFirstOrThrow({ where: { id } });
/** No worker sends mail in this test. */
const ownerMails = async (): Promise<string[]> =>
  (await prisma.mailOutbox.findMany({ where: { to: email } })).map(({ subject }) => subject);

const approvedMails = async (): Promise<string[]> => {
  const subject = "The export that you asked for was approved";
  return (await prisma.mailOutbox.findMany({ where: { to: email, subject } })).map(
    ({ text }) => text,
  );
};
const carryOn = ({ id }: { readonly id: string }) =>
  services.decisionRunner.settle(`${projectId}/${id}/decided`);

test("a key that no rule bounds is shown to one person, every owner is mailed, and the wallet is marked for ever", async () => {
  const id = await newWallet("Loose");
  expect(await take(id)).toMatchObject({
    mnemonic: expect.stringMatching(/^(\w+ ){11}\w+$/) as string,
    waitsFor: null,
  });
  const { exportedAt } = await walletOf(id);
  expect(exportedAt).not.toBeNull();
  expect(await ownerMails()).toContain('The mnemonic of the private wallet "Loose" was shown');
  const { data } = await session.client.call(listPrivacyWallets);
  expect(data.find(({ id: privacyWalletId }) => privacyWalletId === id)?.exportedAt).toBe(
    exportedAt?.toISOString(),
  );
  await take(id);
  expect((await walletOf(id)).exportedAt).toEqual(exportedAt);
});

test.each(Object.entries(EVERY_RULE).filter(([rule]) => !PROOFS.includes(rule)))(
  "a rule %s of the project, of a wallet or of an API key keeps the key from being shown",
  async (rule, value) => {
    const id = await newWallet();
    const subjects = [["project"], ["wallet", treasuryId], ["key", key.id]] as const;
    for (const [scope, subjectId] of subjects) {
      await put({ [rule]: value }, scope, subjectId);
      const refused = await refusalOf(take(id));
      expect(refused).toMatchObject({ code: "policy_violation" });
      expect(refused.message).toContain("Nothing was shown");
      await put({}, scope, subjectId);
    }
    expect((await walletOf(id)).exportedAt).toBeNull();
    expect(
      await prisma.auditEvent.count({
        where: { subject: id, action: "privacy_wallet.exported" },
      }),
    ).toBe(0);
  },
);

const demandBySetting = (approvals: typeof TWO | null): Promise<unknown> =>
  approvals === null
    ? withApproval(session.account, (approval) =>
        session.client.call(updatePolicies, {
          body: { approvals, ...(approval ? { approval } : {}) },
        }),
      )
    : demandVotes(session.client, approvals);
const aboveMillions = { approvals: { aboveUsd: "1000000", ...TWO } };

test.each([
  ["the setting", () => demandBySetting(TWO), () => demandBySetting(null)],
  ["a policy of the project", () => put(aboveMillions), () => put({})],
  [
    "a policy of a wallet",
    () => put(aboveMillions, "wallet", treasuryId),
    () => put({}, "wallet", treasuryId),
  ],
  [
    "a policy of an API key",
    () => put(aboveMillions, "key", key.id),
    () => put({}, "key", key.id),
  ],
] as const)(
  "where %s demands votes, the key waits for them, and is shown once to the person who asked",
  async (_, demand, undo) => {
    await demand();
    const id = await newWallet("Voted");
    const asked = await take(id);
    expect(asked).toMatchObject({ mnemonic: null });
    expect(await ownerMails()).toContain(
      'Somebody asks for the mnemonic of the private wallet "Voted"',
    );
    const request = await requestAbout(session.client, id);
    expect(request).toMatchObject({
      id: asked.waitsFor?.decisionId,
      mayDecide: false,
      required: TWO,
    });
    expect(await refusalOf(take(id))).toMatchObject({
      code: "invalid_state",
      body: { decisionId: request.id },
    });
    await vote(voters[0], request.id);
    expect((await walletOf(id)).exportedAt).toBeNull();
    await vote(voters[1], request.id);
    expect(await approvedMails()).toEqual([]);
    // The requester is mailed once, however many workers carry out the decision.
    await Promise.all([1, 2, 3].map(() => carryOn(request)));
    const [mail, ...others] = await approvedMails();
    expect(others).toEqual([]);
    expect(mail).toContain('Show the mnemonic of the private wallet "Voted"');
    const { decidedAt } = await prisma.decisionRequest.findFirstOrThrow({
      where: { id: request.id },
    });
    expect(mail).toContain(new Date((decidedAt?.getTime() ?? 0) + HOUR_MS).toISOString());
    await prisma.mailOutbox.deleteMany({ where: { to: email } });
    // An admin who voted has to request votes too, and sees nothing.
    const other = { account: voters[0].session.account, client: voters[0].client };
    expect(
      await refusalOf(other.client.call(exportPrivacyWallet, { params: { id }, body: {} })),
    ).toMatchObject({
      code: "approval_required",
    });
    const shown = await take(id);
    expect(shown.mnemonic).not.toBeNull();
    expect(await walletOf(id)).toMatchObject({ exportDecisionId: request.id });
    // The votes have shown the mnemonic once, so the next call requests votes again.
    expect(await take(id)).toMatchObject({ mnemonic: null });
    const declined = await requestAbout(session.client, id);
    await vote(voters[0], declined.id, "decline");
    await carryOn(declined);
    expect(await approvedMails()).toEqual([]);
    await undo();
  },
);

test("votes that are an hour old, or that a stricter rule came after, show nothing", async () => {
  await demandBySetting(TWO);
  const [late, outvoted, bounded] = [await newWallet(), await newWallet(), await newWallet()];
  for (const id of [late, outvoted, bounded]) {
    await take(id);
    const request = await requestAbout(session.client, id);
    for (const voter of voters) await vote(voter, request.id);
  }
  await put({ newRecipientHours: 48 });
  expect(await refusalOf(take(bounded))).toMatchObject({ code: "policy_violation" });
  await put({ approvals: { ...TWO, aboveUsd: "1", count: 3 } });
  expect(await take(outvoted)).toMatchObject({ mnemonic: null });
  await put({});
  await prisma.decisionRequest.updateMany({
    where: { subjectId: late },
    data: { decidedAt: new Date(clock.now().getTime() - HOUR_MS) },
  });
  expect(await take(late)).toMatchObject({ mnemonic: null });
  for (const id of [late, outvoted, bounded])
    expect((await walletOf(id)).exportedAt).toBeNull();
  await demandBySetting(null);
});

test.each([
  ["an allow-list", { recipients: "approved_contacts" }],
  ["a cool-down", { newRecipientHours: 48 }],
] as const)(
  "under %s a wallet whose key was shown is paid nothing, and exits are judged as payments",
  async (_, rules) => {
    const [kept, shown] = [await newWallet("Kept"), await newWallet("Shown")];
    for (let note = 0; note < 3; note += 1) await money.deposit(kept, "USDC", "100");
    await money.deposit(shown, "USDC", "100");
    await take(shown);
    await put(rules);
    const operations = await prisma.operation.count({ where: { projectId } });
    const usdc = { chainId, token: "USDC", amount: "20" };
    const { client } = session;
    const refuses = async (work: Promise<unknown>): Promise<void> =>
      expect((await refusalOf(work)).code).toBe("policy_violation");
    await refuses(client.call(shield, { body: { ...usdc, privacyWalletId: shown } }));
    await refuses(
      client.call(privateTransfer, {
        body: { ...usdc, privacyWalletId: kept, toPrivacyWalletId: shown },
      }),
    );
    const swap = { chainId, fromToken: "USDC", toToken: "DAI", amount: "20" };
    const { quoteId } = await client.call(quotePrivateSwap, { body: swap });
    await client.call(preparePrivateSwap, { body: { quoteId, privacyWalletId: shown } });
    await refuses(client.call(executePrivateSwap, { body: { quoteId } }));
    const outside = { ...usdc, privacyWalletId: kept, toAddress: testAccount().address };
    await refuses(client.call(unshield, { body: outside }));
    await refuses(client.call(privateTransfer, { body: outside }));
    expect(await prisma.operation.count({ where: { projectId } })).toBe(operations);
    // Wallets whose keys only the service has, and the treasury, stay in the project.
    const inside = { ...usdc, privacyWalletId: kept, toPrivacyWalletId: await newWallet() };
    await client.call(privateTransfer, { body: inside });
    await client.call(unshield, { body: { ...usdc, privacyWalletId: kept } });
    expect(await prisma.operation.count({ where: { projectId } })).toBe(operations + 2);
    await put({});
  },
);
