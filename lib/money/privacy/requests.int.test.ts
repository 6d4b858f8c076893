import { beforeAll, expect, test } from "vitest";
import { readProjectInbox } from "@/lib/contracts/inbox";
import {
  createPrivacyWallet,
  getPrivateTransfer,
  listPrivateTransfers,
  shield,
} from "@/lib/contracts/privacy";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { codeOf } from "@/lib/dev/testing/refusals";

// Responses about private operations before a proof is made or anything is sent.
const CHAIN = 31337;

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await testApi();
  customer = await newCustomer(api);
});

test("the list has every private operation of the project once, newest first, over pages, and by private wallet", async () => {
  const { client } = customer.session;
  const body = { chainId: CHAIN, token: "USDC", amount: "5" };
  const { id: privacyWalletId } = await client.call(createPrivacyWallet, {
    body: { name: "Payroll" },
  });
  const made: string[] = [];
  for (const own of [{}, { privacyWalletId }, {}])
    made.unshift((await client.call(shield, { body: { ...body, ...own } })).transferId);
  const first = await client.call(listPrivateTransfers, { query: { limit: 2 } });
  expect(first.data.map(({ transferId }) => transferId)).toEqual(made.slice(0, 2));
  const last = await client.call(listPrivateTransfers, {
    query: { limit: 2, cursor: first.nextCursor ?? "" },
  });
  expect(last).toMatchObject({ data: [{ transferId: made[2] }], nextCursor: null });
  // A row contains the same as the answer for the single object.
  expect(last.data[0]).toEqual(
    await client.call(getPrivateTransfer, { params: { id: made[2] ?? "" } }),
  );
  const ofWallet = await client.call(listPrivateTransfers, { query: { privacyWalletId } });
  expect(ofWallet.data.map(({ transferId }) => transferId)).toEqual([made[1]]);
});

test("the inbox leads from a private operation that waits to the page of that operation", async () => {
  const { client } = customer.session;
  const made = await client.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "7" },
  });
  const { data } = await client.call(readProjectInbox);
  expect(data.find(({ id }) => id === made.operationId)).toMatchObject({
    kind: "operation",
    path: `/private/${made.transferId}`,
  });
});

test("the list shows nothing of another project, and nothing to a key that may not read privacy", async () => {
  const stranger = await newCustomer(api);
  const { client } = stranger.session;
  expect(await client.call(listPrivateTransfers, { query: {} })).toEqual({
    data: [],
    nextCursor: null,
  });
  const { id: privacyWalletId } = await customer.session.client.call(createPrivacyWallet, {
    body: { name: "Theirs" },
  });
  expect(await codeOf(client.call(listPrivateTransfers, { query: { privacyWalletId } }))).toBe(
    "404 unknown_privacy_wallet",
  );
  const blind = await api.createKey(customer.session, { scopes: ["operations:read"] });
  expect(await codeOf(blind.client.call(listPrivateTransfers, { query: {} }))).toBe(
    "403 insufficient_scope",
  );
});
