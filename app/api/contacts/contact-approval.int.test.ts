/** Contacts whose name and chains somebody has approved, and those who change them. */
import { expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveContact,
  createContact,
  getContact,
  listContacts,
  updateContact,
} from "@/lib/contracts/contacts";
import type { ApiClient } from "@/lib/api-client/client";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { newMember, refusalOf } from "@/lib/dev/testing/voters";

const api = await testApi({ devnet: false });
const { prisma } = api.services.database;

const approve = ({ account, client }: TestSession, id: string) =>
  withApproval(account, (approval) =>
    client.call(approveContact, { params: { id }, body: approval ? { approval } : {} }),
  );

const approved = async (session: TestSession, chainIds: number[] = [31337]) => {
  const body = { name: "Payroll Ltd", address: testAccount().address, chainIds };
  const { id } = await session.client.call(createContact, { body });
  return approve(session, id);
};

const CHANGES: readonly (readonly [
  string,
  (
    client: ApiClient,
    contact: { readonly id: string; readonly address: string },
  ) => Promise<unknown>,
])[] = [
  [
    "a new name",
    (client, { id }) =>
      client.call(updateContact, { params: { id }, body: { name: "Payroll Inc" } }),
  ],
  [
    "a new name by its address",
    (client, { address }) =>
      client.call(createContact, { body: { name: "Payroll Inc", address } }),
  ],
  [
    "wider chains",
    (client, { id }) =>
      client.call(updateContact, { params: { id }, body: { chainIds: [31337, 31338] } }),
  ],
  [
    "every chain",
    (client, { id }) => client.call(updateContact, { params: { id }, body: { chainIds: [] } }),
  ],
];

const WRITERS: readonly (readonly [
  string,
  (owner: TestSession, projectId: string) => Promise<ApiClient>,
])[] = [
  [
    "an operator",
    async (_owner, projectId) => (await newMember(api, projectId, "operator")).client,
  ],
  ["a key", async (owner) => (await api.createKey(owner)).client],
  ["its owner's session alone", (owner) => Promise.resolve(owner.client)],
];

const CASES = WRITERS.flatMap(([who, clientOf]) =>
  CHANGES.map(([what, change]) => [who, what, { clientOf, change }] as const),
);

test.each(CASES)(
  "an approved contact is proposed again when %s gives it %s, and tags leave it approved",
  async (_who, _what, { clientOf, change }) => {
    const owner = await api.signIn();
    const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
    const contact = await approved(owner);
    expect(contact).toMatchObject({ state: "approved", chainIds: [31337] });
    const client = await clientOf(owner, projectId);
    await client.call(updateContact, {
      params: { id: contact.id },
      body: { tags: ["May"], chainIds: [31337] },
    });
    expect(await client.call(getContact, { params: { id: contact.id } })).toMatchObject({
      state: "approved",
    });
    await change(client, contact);
    const stored = await prisma.contact.findUniqueOrThrow({ where: { id: contact.id } });
    expect(stored).toMatchObject({ state: "proposed", approvedAt: null, approvedBy: null });
    const entry = await prisma.auditEvent.findFirstOrThrow({
      where: { subject: contact.id },
      orderBy: { id: "desc" },
    });
    expect(JSON.stringify(entry.data)).toContain("state: approved");
    // Approved again, it has the new values.
    expect(await approve(owner, contact.id)).toMatchObject({ state: "approved" });
  },
);

test("an approval says name, address, chains and what the contact may be mistaken for, and is for these values alone", async () => {
  const owner = await api.signIn();
  const first = await approved(owner, []);
  const eve = await owner.client.call(createContact, {
    body: { name: "PayroIl Ltd", address: testAccount().address, chainIds: [31338, 31337] },
  });
  expect(eve).toMatchObject({ chainIds: [31337, 31338], state: "proposed" });
  expect(eve.warnings).toMatchObject([{ code: "similar_name", path: "name" }]);
  expect(eve.warnings[0]?.message).toContain('the approved contact "Payroll Ltd"');
  const { data } = await owner.client.call(listContacts);
  expect(data.find(({ id }) => id === eve.id)?.warnings).toEqual(eve.warnings);
  expect(data.find(({ id }) => id === first.id)?.warnings).toEqual([]);

  const asked = await refusalOf(
    owner.client.call(approveContact, { params: { id: eve.id }, body: {} }),
  );
  expect(asked.message).toContain('Name: "PayroIl Ltd"');
  expect(asked.message).toContain(eve.address);
  expect(asked.message).toMatch(/Chains: .+, .+/);
  expect(asked.message).toContain('looks like that of the approved contact "Payroll Ltd"');

  const { approvalId } = asked.body as { approvalId: string };
  const approval = {
    approvalId,
    signature: await owner.account.signMessage({ message: asked.message }),
  };
  await owner.client.call(updateContact, { params: { id: eve.id }, body: { chainIds: [] } });
  const late = owner.client.call(approveContact, {
    params: { id: eve.id },
    body: { approval },
  });
  expect(await refusalOf(late)).toMatchObject({ status: 409, code: "approval_required" });
  expect(await owner.client.call(getContact, { params: { id: eve.id } })).toMatchObject({
    state: "proposed",
  });
});

test("of an approval and a change at the same time, no contact comes out approved with values that nobody approved", async () => {
  const owner = await api.signIn();
  const { client: key } = await api.createKey(owner);
  for (let round = 0; round < 10; round += 1) {
    const body = { name: `Shop ${String(round)}`, address: testAccount().address };
    const { id } = await owner.client.call(createContact, { body });
    const asked = await refusalOf(
      owner.client.call(approveContact, { params: { id }, body: {} }),
    );
    const { approvalId } = asked.body as { approvalId: string };
    const approval = {
      approvalId,
      signature: await owner.account.signMessage({ message: asked.message }),
    };
    await Promise.allSettled([
      owner.client.call(approveContact, { params: { id }, body: { approval } }),
      key.call(updateContact, { params: { id }, body: { name: "Mallory", chainIds: [31338] } }),
    ]);
    const stored = await prisma.contact.findUniqueOrThrow({ where: { id } });
    expect(stored).toMatchObject({ name: "Mallory", chainIds: [31338], state: "proposed" });
  }
});
