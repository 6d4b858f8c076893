/**
 * Names of contacts where people decide, and payments where a policy asks for approved contacts.
 */
import { expect, test } from "vitest";
import type { Address } from "viem";
import { approveContact, createContact, updateContact } from "@/lib/contracts/contacts";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { executeSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { createSmartAccount } from "@/lib/contracts/wallets";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { prepareTransfer } from "@/lib/dev/testing/journey";
import { linkedWallet } from "@/lib/dev/testing/own-wallets";
import { putRules } from "@/lib/dev/testing/policies";
import { demandVotes, newMember, refusalOf, requestAbout } from "@/lib/dev/testing/voters";

const [HERE, THERE] = [31337, 31338];
const api = await testApi();
const { prisma } = api.services.database;

const approve = ({ account, client }: TestSession, id: string) =>
  withApproval(account, (approval) =>
    client.call(approveContact, { params: { id }, body: approval ? { approval } : {} }),
  );

const terms = ({ treasuryId }: FundedCustomer, toAddress: Address) => ({
  fromWalletId: treasuryId,
  fromChainId: HERE,
  toChainId: HERE,
  token: "USDC",
  amount: "1",
  toAddress,
});

/** The text of the mail with the code that approves a transfer to the address. */
const codeMail = async (of: FundedCustomer, toAddress: Address): Promise<string> => {
  const { transferId } = await of.session.client.call(createTransfer, {
    body: terms(of, toAddress),
  });
  await of.session.client.call(requestOtp, { body: { transferId } });
  const mails = await api.services.inbox?.list({ to: of.email, limit: 100 });
  const texts = (mails ?? [])
    .map(({ text }) => text)
    .filter((text) => text.includes(toAddress));
  expect(texts).toHaveLength(1);
  return texts.join("");
};

test("the mail with a code names no contact that a key proposed, and none that was changed since its approval", async () => {
  const of = await fundedCustomer(api);
  const named = async (name: string, chainIds: number[] = []) =>
    of.client.call(createContact, { body: { name, address: testAccount().address, chainIds } });
  const proposed = await named("Payroll Ltd");
  expect(await codeMail(of, proposed.address)).toMatch(
    new RegExp(`To: ${proposed.address}$`, "m"),
  );
  const approved = await named("Shop");
  await approve(of.session, approved.id);
  expect(await codeMail(of, approved.address)).toContain(`To: "Shop", ${approved.address}`);

  const renamed = await named("Grace");
  await approve(of.session, renamed.id);
  await of.client.call(updateContact, {
    params: { id: renamed.id },
    body: { name: "Payroll Ltd" },
  });
  const mail = await codeMail(of, renamed.address);
  expect(mail).not.toContain("Payroll");
  expect(mail).not.toContain("Grace");

  const elsewhere = await named("Branch", [THERE]);
  await approve(of.session, elsewhere.id);
  expect(await codeMail(of, elsewhere.address)).not.toContain("Branch");
}, 120_000);

test("the mail with a code shows no label of a wallet whose key the service does not hold", async () => {
  const of = await fundedCustomer(api);
  const { address: ownerAddress } = await linkedWallet(of);
  const body = { ownerAddress, chainId: HERE, label: "Payroll Ltd" };
  const { address } = await of.client.call(createSmartAccount, { body });
  const mail = await codeMail(of, address);
  expect(mail).toContain(`To: Smart account, ${address}`);
  expect(mail).not.toContain("Payroll");
}, 120_000);

test("voters see the names of approved contacts alone, and a proposed name in the inbox is quoted and flagged", async () => {
  const of = await fundedCustomer(api);
  const voter = await newMember(api, of.projectId, "admin");
  await newMember(api, of.projectId, "admin");
  await demandVotes(of.session.client, { count: 1, roles: ["admin"] });
  const add = (name: string) =>
    of.client.call(createContact, { body: { name, address: testAccount().address } });
  const shop = await add("Shop");
  await approve(of.session, shop.id);
  const eve = await add("SHOP.");
  const linesOf = async (toAddress: Address): Promise<string> => {
    const { transferId } = await prepareTransfer(api, of, terms(of, toAddress));
    const { operationId } = await of.session.client.call(executeSwap, { body: { transferId } });
    return (await requestAbout(voter.client, operationId)).lines.join("\n");
  };
  expect(await linesOf(shop.address)).toContain(`To: "Shop", ${shop.address}`);
  expect(await linesOf(eve.address)).toMatch(new RegExp(`To: ${eve.address}$`, "m"));

  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { newRecipientHours: 24 },
  });
  const { data } = await of.session.client.call(readProjectInbox);
  const item = data.find(({ id }) => id === eve.id);
  expect(item?.title).toBe('Contact "SHOP." is proposed');
  expect(item?.toDo).toContain(`the approved contact "Shop", ${shop.address}`);
}, 120_000);

const CHANGES = [
  ["renames it", { name: "Payroll Inc", chainIds: [HERE] }],
  ["widens its chains", { name: "Payroll Ltd", chainIds: [HERE, THERE] }],
] as const;

test.each(CHANGES)(
  "where a policy asks for approved contacts, nothing is paid any more to a contact after an operator or a key %s",
  async (_what, change) => {
    const of = await fundedCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { recipients: "approved_contacts" },
    });
    const operator = await newMember(api, of.projectId, "operator");
    for (const by of [operator.client, of.client]) {
      const body = { name: "Payroll Ltd", address: testAccount().address, chainIds: [HERE] };
      const contact = await of.session.client.call(createContact, { body });
      await approve(of.session, contact.id);
      expect((await sendUsdc(of, "1", contact.address)).subStatus).toBe("prepared");
      const count = () => prisma.operation.count({ where: { projectId: of.projectId } });
      const before = await count();

      await by.call(updateContact, {
        params: { id: contact.id },
        body: { ...change, chainIds: [...change.chainIds], tags: ["May"] },
      });
      expect(await refusalOf(sendUsdc(of, "1", contact.address))).toMatchObject({
        code: "policy_violation",
      });
      const transfers = [{ address: contact.address, amount: "1", token: "USDC" }];
      const payout = of.client.call(createWalletsPayout, {
        body: { chainId: HERE, transfers },
      });
      expect(await refusalOf(payout)).toMatchObject({ code: "policy_violation" });
      expect(await count()).toBe(before);
      expect(await prisma.payout.count({ where: { projectId: of.projectId } })).toBe(0);

      await approve(of.session, contact.id);
      expect((await sendUsdc(of, "1", contact.address)).subStatus).toBe("prepared");
    }
  },
  120_000,
);

test("a contact that was approved for one chain is not paid on another where a policy asks for approved or known recipients", async () => {
  const of = await fundedCustomer(api);
  const body = { name: "Branch", address: testAccount().address, chainIds: [THERE] };
  const contact = await of.session.client.call(createContact, { body });
  await approve(of.session, contact.id);
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { recipients: "approved_contacts" },
  });
  const refused = await refusalOf(sendUsdc(of, "1", contact.address));
  expect(refused).toMatchObject({ code: "policy_violation" });
  expect(refused.message).toContain("was not approved for this chain");
  await prisma.contact.update({
    where: { id: contact.id },
    data: { approvedAt: new Date(Date.now() - 48 * 3_600_000) },
  });
  await putRules(of.session, {
    scope: "project",
    baseVersion: 1,
    rules: { newRecipientHours: 24 },
  });
  expect(await refusalOf(sendUsdc(of, "1", contact.address))).toMatchObject({
    code: "policy_violation",
  });
  expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
}, 120_000);
