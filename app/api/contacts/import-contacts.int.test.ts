/** Contacts that are stored with one request, and approved with one proof. */
import { expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveContacts,
  createContact,
  importContacts,
  listContacts,
  updateContact,
} from "@/lib/contracts/contacts";
import type { BodyInput } from "@/lib/contracts/contract";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { newMember, refusalOf } from "@/lib/dev/testing/voters";

const api = await testApi({ devnet: false });
const { prisma } = api.services.database;

type Row = BodyInput<typeof importContacts>["contacts"][number];

const row = (name: string, more: Partial<Row> = {}): Row => ({
  name,
  address: testAccount().address,
  ...more,
});

const importing = (
  { client }: Pick<TestSession, "client">,
  contacts: Row[],
  more: Partial<BodyInput<typeof importContacts>> = {},
) => client.call(importContacts, { body: { contacts, ...more } });

const book = async ({ client }: TestSession) => (await client.call(listContacts)).data;

test("an import stores its rows as proposed contacts, and a second one changes nothing", async () => {
  const owner = await api.signIn();
  const rows = [row("Ada", { tags: ["Payroll"] }), row("Bank", { chainIds: [31338, 31337] })];
  const { data } = await importing(owner, rows);
  expect(data).toMatchObject([
    { name: "Ada", outcome: "created", knownAs: null, warnings: [] },
    { name: "Bank", outcome: "created", knownAs: null, warnings: [] },
  ]);
  expect(await book(owner)).toMatchObject([
    { id: data[0]?.id, name: "Ada", tags: ["Payroll"], chainIds: [], state: "proposed" },
    { id: data[1]?.id, name: "Bank", tags: [], chainIds: [31337, 31338], state: "proposed" },
  ]);
  const again = await importing(owner, rows, { existing: "update" });
  expect(again.data.map(({ outcome }) => outcome)).toEqual(["unchanged", "unchanged"]);
  const entries = await prisma.auditEvent.findMany({
    where: { subject: { in: data.map(({ id }) => String(id)) } },
  });
  expect(entries.map(({ action }) => action)).toEqual(["contact.saved", "contact.saved"]);
});

test("a check stores nothing, and says the same as the import", async () => {
  const owner = await api.signIn();
  const known = row("Ada");
  await owner.client.call(createContact, { body: known });
  const rows = [{ ...known, name: "Ada Lovelace" }, row("Bank")];
  const checked = await importing(owner, rows, { validateOnly: true, existing: "update" });
  expect(checked.data).toMatchObject([
    { name: "Ada Lovelace", knownAs: "Ada", outcome: "updated" },
    { id: null, name: "Bank", knownAs: null, outcome: "created" },
  ]);
  expect((await book(owner)).map(({ name }) => name)).toEqual(["Ada"]);
  const { data } = await importing(owner, rows, { existing: "update" });
  expect(data.map(({ outcome }) => outcome)).toEqual(["updated", "created"]);
});

test("a contact that the book has is skipped or updated, and an approved one is proposed again by another name alone", async () => {
  const owner = await api.signIn();
  const [ada, bank] = [row("Ada"), row("Bank")];
  const { data } = await importing(owner, [ada, bank]);
  const ids = data.map(({ id }) => String(id));
  await withApproval(owner.account, (approval) =>
    owner.client.call(approveContacts, { body: { ids, ...(approval ? { approval } : {}) } }),
  );
  const rows = [
    { ...ada, name: "Mallory" },
    { ...bank, tags: ["May"] },
  ];
  const skipped = await importing(owner, rows);
  expect(skipped.data).toMatchObject([
    { id: ids[0], name: "Ada", knownAs: "Ada", outcome: "skipped" },
    { id: ids[1], name: "Bank", outcome: "skipped" },
  ]);
  expect(await book(owner)).toMatchObject([
    { name: "Ada", state: "approved" },
    { name: "Bank", tags: [], state: "approved" },
  ]);
  await importing(owner, rows, { existing: "update" });
  expect(await book(owner)).toMatchObject([
    { name: "Bank", tags: ["May"], state: "approved" },
    { name: "Mallory", state: "proposed", approvedAt: null },
  ]);
});

test("wrong rows are named by their index, and then nothing is stored", async () => {
  const owner = await api.signIn();
  const { address } = testAccount();
  const wrong = await refusalOf(
    importing(owner, [
      row("Ada"),
      { name: "Bad", address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
    ]),
  );
  expect(wrong).toMatchObject({ status: 400, details: [{ path: "contacts.1.address" }] });
  const refused = await refusalOf(
    importing(owner, [
      { name: "Zero", address: `0x${"0".repeat(40)}` },
      { name: "Ada", address },
      { name: "Ada again", address },
    ]),
  );
  expect(refused).toMatchObject({
    status: 400,
    code: "invalid_request",
    details: [
      { path: "contacts.0.address" },
      { path: "contacts.2.address", message: "is the address of row 2 already" },
    ],
  });
  const elsewhere = await refusalOf(
    importing(owner, [row("Ada"), row("Bob", { chainIds: [1] })]),
  );
  expect(elsewhere).toMatchObject({ code: "unsupported_chain" });
  expect(await book(owner)).toEqual([]);
});

test("an address that looks like one of the book, or like another row, is flagged", async () => {
  const owner = await api.signIn();
  const middle = (digit: string): string => `0x7099${digit.repeat(32)}79c8`;
  await owner.client.call(createContact, { body: { name: "Ada", address: middle("1") } });
  const { data } = await importing(
    owner,
    [
      { name: "Mallory", address: middle("2") },
      { name: "Eve", address: `0x1234${"3".repeat(32)}5678` },
      { name: "Eva", address: `0x1234${"4".repeat(32)}5678` },
      { name: "EVE", address: testAccount().address },
    ],
    { validateOnly: true },
  );
  expect(data.map(({ warnings }) => warnings.map(({ code }) => code))).toEqual([
    ["lookalike_recipient"],
    ["lookalike_recipient", "similar_name"],
    ["lookalike_recipient"],
    ["similar_name"],
  ]);
});

test("one proof approves all contacts of an import, and only with the values that it lists", async () => {
  const owner = await api.signIn();
  const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  const operator = await newMember(api, projectId, "operator");
  const { data } = await importing(operator, [row("Ada"), row("Bank"), row("Cem")]);
  const ids = data.map(({ id }) => String(id));
  expect(
    await refusalOf(operator.client.call(approveContacts, { body: { ids } })),
  ).toMatchObject({ status: 403, code: "forbidden" });

  const asked = await refusalOf(owner.client.call(approveContacts, { body: { ids } }));
  expect(asked).toMatchObject({ status: 409, code: "approval_required" });
  for (const { name, address } of data)
    expect(asked.message).toContain(`"${name}", ${address}, every chain`);
  const { approvalId } = asked.body as { approvalId: string };
  const approval = {
    approvalId,
    signature: await owner.account.signMessage({ message: asked.message }),
  };
  await operator.client.call(updateContact, {
    params: { id: ids[1] ?? "" },
    body: { name: "Mallory" },
  });
  expect(
    await refusalOf(owner.client.call(approveContacts, { body: { ids, approval } })),
  ).toMatchObject({ status: 409, code: "approval_required" });
  expect((await book(owner)).map(({ state }) => state)).toEqual(Array(3).fill("proposed"));

  const approve = (all: string[]) =>
    withApproval(owner.account, (given) =>
      owner.client.call(approveContacts, {
        body: { ids: all, ...(given ? { approval: given } : {}) },
      }),
    );
  expect(await approve(ids)).toEqual({ approved: 3 });
  expect((await book(owner)).map(({ state }) => state)).toEqual(Array(3).fill("approved"));
  expect(await approve(ids)).toEqual({ approved: 0 });
});

test("an approval of contacts of another project is 404", async () => {
  const [owner, other] = [await api.signIn(), await api.signIn()];
  const { data } = await importing(other, [row("Ada")]);
  const own = await importing(owner, [row("Bank")]);
  const ids = [...own.data, ...data].map(({ id }) => String(id));
  expect(await refusalOf(owner.client.call(approveContacts, { body: { ids } }))).toMatchObject({
    status: 404,
    code: "not_found",
  });
});

test("three thousand contacts are stored at once, and the book refuses what does not fit", async () => {
  const owner = await api.signIn();
  const many = (from: number, count: number): Row[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `Supplier ${String(from + index)}`,
      address: `0x${(from + index + 0x1_0000).toString(16).padStart(40, "1")}`,
    }));
  const { data } = await importing(owner, many(0, 3000));
  expect(data.every(({ outcome }) => outcome === "created")).toBe(true);
  expect(await refusalOf(importing(owner, many(3000, 2001)))).toMatchObject({
    code: "invalid_state",
  });
  const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  expect(await prisma.contact.count({ where: { projectId } })).toBe(3000);
});
