import { beforeAll, expect, test } from "vitest";
import {
  createContact,
  deleteContact,
  getContact,
  listContacts,
  updateContact,
} from "@/lib/contracts/contacts";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ devnet: false });
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

test("the address book keeps one name for each address, sorted, for people and keys of the project", async () => {
  const session = await api.signIn();
  const { client, id: keyId } = await api.createKey(session);
  const [shop, bank] = [testAccount().address, testAccount().address];
  const first = await client.call(createContact, {
    body: { name: " Shop ", address: shop.toLowerCase() },
  });
  expect(first).toMatchObject({ name: "Shop", address: shop, createdBy: keyId });
  await session.client.call(createContact, { body: { name: "Bank", address: bank } });
  const renamed = await session.client.call(createContact, {
    body: { name: "Corner shop", address: shop },
  });
  expect(renamed).toEqual({ ...first, name: "Corner shop" });
  expect(await client.call(getContact, { params: { id: first.id } })).toEqual(renamed);
  const { data } = await client.call(listContacts);
  expect(data.map(({ name }) => name)).toEqual(["Bank", "Corner shop"]);
  expect(await client.call(deleteContact, { params: { id: first.id } })).toEqual({
    id: first.id,
  });
  expect(await refusal(client.call(deleteContact, { params: { id: first.id } }))).toMatchObject(
    {
      status: 404,
    },
  );
  expect((await session.client.call(listContacts)).data).toMatchObject([{ name: "Bank" }]);
});

test("a contact has tags and chains, which are changed without its address or state", async () => {
  const { client } = await api.signIn();
  const { address } = testAccount();
  const made = await client.call(createContact, {
    body: { name: "Shop", address, tags: [" Berlin "], chainIds: [31337] },
  });
  expect(made).toMatchObject({ tags: ["Berlin"], chainIds: [31337], state: "proposed" });
  const params = { id: made.id };
  expect(await client.call(updateContact, { params, body: { tags: ["Supplier"] } })).toEqual({
    ...made,
    tags: ["Supplier"],
  });
  const named = await client.call(updateContact, {
    params,
    body: { name: "Corner shop", chainIds: [] },
  });
  expect(named).toEqual({ ...made, name: "Corner shop", tags: ["Supplier"], chainIds: [] });
  // A request without tags and chains leaves both as they are.
  const again = await client.call(createContact, { body: { name: "Shop", address } });
  expect(again).toEqual({ ...named, name: "Shop" });
});

test.each([
  ["the same tag twice", { tags: ["a", "A"] }, "tags"],
  ["a tag with a comma", { tags: ["a,b"] }, "tags.0"],
  [
    "more than ten tags",
    { tags: Array.from({ length: 11 }, (_, index) => String(index)) },
    "tags",
  ],
  ["nothing to change", {}, ""],
])("a change of a contact refuses %s", async (_what, body, path) => {
  const { client } = await api.signIn();
  const { id } = await client.call(createContact, {
    body: { name: "Shop", address: testAccount().address },
  });
  const refused = await refusal(client.call(updateContact, { params: { id }, body }));
  expect(refused).toMatchObject({ status: 400, code: "invalid_request", details: [{ path }] });
});

test("a contact on a chain that is not configured is refused", async () => {
  const { client } = await api.signIn();
  const body = { name: "Shop", address: testAccount().address, chainIds: [1] };
  expect(await refusal(client.call(createContact, { body }))).toMatchObject({
    code: "unsupported_chain",
  });
  expect((await client.call(listContacts)).data).toEqual([]);
});

test("the contacts of another project are 404", async () => {
  const [ada, eve] = [await api.signIn(), await api.signIn()];
  const { address } = testAccount();
  const { id } = await ada.client.call(createContact, { body: { name: "Shop", address } });
  expect((await eve.client.call(listContacts)).data).toEqual([]);
  for (const each of [id, "ct_01980000-0000-7000-8000-000000000000", "ct_1", "%"]) {
    const change = eve.client.call(updateContact, {
      params: { id: each },
      body: { name: "Mine" },
    });
    expect(await refusal(change)).toMatchObject({ status: 404, code: "not_found" });
    for (const contract of [getContact, deleteContact]) {
      const refused = await refusal(eve.client.call(contract, { params: { id: each } }));
      expect(refused).toMatchObject({ status: 404, code: "not_found" });
    }
  }
  // The same address in two projects is two contacts.
  expect(
    (await eve.client.call(createContact, { body: { name: "Mine", address } })).id,
  ).not.toBe(id);
  expect((await ada.client.call(listContacts)).data).toMatchObject([{ name: "Shop" }]);
});

test("concurrent requests for one address store one contact", async () => {
  const { client } = await api.signIn();
  const { address } = testAccount();
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      client.call(createContact, { body: { name: `Shop ${index}`, address } }),
    ),
  );
  expect((await client.call(listContacts)).data).toHaveLength(1);
});

test.each([
  ["no name", { name: " " }, "name"],
  ["a long name", { name: "a".repeat(81) }, "name"],
  ["no address", { address: "shop.eth" }, "address"],
  ["a wrong checksum", { address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }, "address"],
])("the address book: does not take %s", async (_what, wrong, path) => {
  const { client } = await api.signIn();
  const body = { name: "Shop", address: testAccount().address, ...wrong };
  expect(await refusal(client.call(createContact, { body }))).toMatchObject({
    status: 400,
    code: "invalid_request",
    details: [{ path }],
  });
});

test("the address book needs the scopes of transfers, and credentials", async () => {
  const session = await api.signIn();
  const reader = await api.createKey(session, { scopes: ["transfers:read"] });
  const other = await api.createKey(session, { scopes: ["balances:read"] });
  const body = { name: "Shop", address: testAccount().address };
  expect((await reader.client.call(listContacts)).data).toEqual([]);
  const lacking = { status: 403, code: "insufficient_scope" };
  expect(await refusal(reader.client.call(createContact, { body }))).toMatchObject(lacking);
  expect(await refusal(other.client.call(listContacts))).toMatchObject(lacking);
  expect(await refusal(api.client().call(listContacts))).toMatchObject({ status: 401 });
});

test("a replay gets the first answer", async () => {
  const { accessToken } = await api.signIn();
  const headers = {
    authorization: `Bearer ${accessToken}`,
    "idempotency-key": "contact-1",
    "content-type": "application/json",
  };
  const body = JSON.stringify({ name: "Shop", address: testAccount().address });
  const post = () => api.fetch("/contacts", { method: "POST", headers, body });
  const [first, second] = [await post(), await post()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(await second.json()).toEqual(await first.json());
});
