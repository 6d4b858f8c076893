import { beforeAll, expect, test } from "vitest";
import { listAnnotations, putAnnotation } from "@/lib/contracts/annotations";
import type { createApiKey } from "@/lib/contracts/api-keys";
import { listAuditLog } from "@/lib/contracts/audit";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { exportOperations, listOperations } from "@/lib/contracts/operations";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

type Scopes = NonNullable<BodyInput<typeof createApiKey>["scopes"]>;

const HERE = 31337;
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

/** Operations that wait for their approval, the oldest first. */
const operationsOf = async (
  { session, treasuryId, treasury }: Customer,
  count: number,
): Promise<string[]> => {
  await fund(session.client, treasury, { chainId: HERE, token: "USDC", amount: "100" });
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const what = {
      fromChainId: HERE,
      toChainId: HERE,
      fromToken: "USDC",
      toToken: "USDC",
      amount: "1",
    };
    const body = { fromWalletId: treasuryId, ...what, recipient: testAccount().address };
    ids.push((await session.client.call(swapAndTransfer, { body })).operationId);
  }
  return ids;
};

test("memo and tags are found in the list and its file, and recorded; the operation stays as it is", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const [rent = "", wages = "", other = ""] = await operationsOf(customer, 3);
  const listed = await client.call(listOperations);
  const write = (id: string, memo: string, tags: string[]) =>
    client.call(putAnnotation, { params: { id }, body: { memo, tags } });
  expect(await write(rent, " Rent of 100% May ", ["Berlin"])).toMatchObject({
    memo: "Rent of 100% May",
    tags: ["Berlin"],
  });
  await write(wages, "Wages", ["Payroll", "berlin"]);

  const found = async (query: object) =>
    (await client.call(listOperations, { query })).data.map(({ operationId }) => operationId);
  expect(await found({ q: "rent of" })).toEqual([rent]);
  expect(await found({ q: "100%" })).toEqual([rent]);
  expect(await found({ q: "ayrol" })).toEqual([wages]);
  expect(await found({ tag: "BERLIN" })).toEqual([wages, rent]);
  expect(await found({ tag: "ber" })).toEqual([]);
  expect(await found({ q: "rent", status: "completed" })).toEqual([]);
  expect(await found({ q: "rent", tag: "Payroll" })).toEqual([]);
  // The token's symbol still finds all of them.
  expect(await found({ q: "usdc" })).toEqual([other, wages, rent]);
  expect(await client.call(listOperations)).toEqual(listed);

  const csv = await client.call(exportOperations, { query: { tag: "payroll" } });
  const [head = "", ...lines] = csv.trim().split("\r\n");
  expect(head.split(",").slice(-2)).toEqual(["memo", "tags"]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('Wages,"Payroll, berlin"');

  // A spreadsheet of an East Asian locale reads the full-width sign as the plain one.
  await write(wages, "＝HYPERLINK(1)", ["Payroll"]);
  expect(await client.call(exportOperations, { query: { tag: "payroll" } })).toContain(
    ",'＝HYPERLINK(1),Payroll",
  );

  await write(rent, "", []);
  expect(await found({ q: "rent of" })).toEqual([]);
  const { data } = await client.call(listAuditLog, { query: { subject: rent } });
  expect(data.filter(({ action }) => action === "operation.annotated")).toHaveLength(2);
});

/** Copies an operation with a tag and a memo: newer ones that have another status. */
const COPY = `
  WITH copies AS (
    INSERT INTO operation SELECT (jsonb_populate_record(o, jsonb_build_object(
      'id', 'op_ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'), 'status', 'cancelled', 'transfer_id', null, 'quote_id', null))).*
    FROM operation o, generate_series(1, $2::int) n WHERE o.id = $1 RETURNING project_id, id
  )
  INSERT INTO annotation (project_id, subject_type, subject_id, memo, tags, updated_by, updated_at)
  SELECT project_id, 'operation', id, 'Rent', '{Berlin}', 'test', now() FROM copies`;

test("a list and its file find an operation by its tag or memo, however many newer ones have the same", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const [id = ""] = await operationsOf(customer, 1);
  await client.call(putAnnotation, {
    params: { id },
    body: { memo: "Rent", tags: ["Berlin"] },
  });
  await api.services.database.pool.query(COPY, [id, 1200]);
  const found = async (query: object) =>
    (await client.call(listOperations, { query })).data.map((each) => each.operationId);
  expect(await found({ tag: "berlin", status: "pending" })).toEqual([id]);
  expect(await found({ q: "rent", status: "pending" })).toEqual([id]);
  expect(await found({ q: "rent", tag: "berlin", chainId: HERE, status: "pending" })).toEqual([
    id,
  ]);
  expect(await found({ q: "usdc", tag: "berlin", status: "pending" })).toEqual([id]);
  expect(await found({ q: id, tag: "berlin" })).toEqual([id]);
  expect(await found({ q: id, tag: "london" })).toEqual([]);
  for (const query of [{ tag: "berlin" }, { q: "rent" }]) {
    const csv = await client.call(exportOperations, { query });
    expect(
      csv
        .trim()
        .split("\r\n")
        .filter((line) => line.includes("Rent")),
    ).toHaveLength(1201);
    let [cursor, listed]: [string | undefined, number] = [undefined, 0];
    do {
      const page: ResponseOf<typeof listOperations> = await client.call(listOperations, {
        query: { ...query, limit: 100, cursor },
      });
      listed += page.data.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(listed).toBe(1201);
  }
});

test("the list takes several statuses and kinds, and no others", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const [id] = await operationsOf(customer, 1);
  const found = async (query: object) =>
    (await client.call(listOperations, { query })).data.map(({ operationId }) => operationId);
  expect(await found({ status: "completed,pending" })).toEqual([id]);
  expect(await found({ status: "completed,failed" })).toEqual([]);
  expect(await found({ kind: "swap,swap_and_transfer" })).toEqual([id]);
  for (const status of ["pending,", "nothing", "pending,nothing", ""])
    expect(
      await refusal(client.call(listOperations, { query: { status } })),
      status,
    ).toMatchObject({ status: 400 });
});

test("a payout has a memo too; what another project has is 404, and its memo is not shown", async () => {
  const [ada, eve] = [await newCustomer(api), await newCustomer(api)];
  await fund(ada.session.client, ada.treasury, { chainId: HERE, token: "USDC", amount: "100" });
  const transfers = [{ address: testAccount().address, amount: "1", token: "USDC" }];
  const { payoutId } = await ada.session.client.call(createWalletsPayout, {
    body: { chainId: HERE, transfers },
  });
  const id = String(payoutId);
  const memo = { memo: "May", tags: ["Payroll"] };
  const written = await ada.session.client.call(putAnnotation, { params: { id }, body: memo });
  const read = ({ session }: Customer) =>
    session.client.call(listAnnotations, { query: { ids: id } });
  expect((await read(ada)).data).toEqual([written]);
  expect((await read(eve)).data).toEqual([]);
  for (const foreign of [id, "op_01980000-0000-7000-8000-000000000000", "po_1", "ga_1"])
    expect(
      await refusal(
        eve.session.client.call(putAnnotation, { params: { id: foreign }, body: memo }),
      ),
    ).toMatchObject({ status: 404, code: "not_found" });
});

test("a key reads and writes the memo of a payout only with the scopes of payouts", async () => {
  const { session, treasury } = await newCustomer(api);
  await fund(session.client, treasury, { chainId: HERE, token: "USDC", amount: "100" });
  const transfers = [{ address: testAccount().address, amount: "1", token: "USDC" }];
  const { payoutId } = await session.client.call(createWalletsPayout, {
    body: { chainId: HERE, transfers },
  });
  const id = String(payoutId);
  const body = { memo: "May", tags: [] };
  const written = await session.client.call(putAnnotation, { params: { id }, body });
  const common: Scopes = ["operations:read", "operations:write", "privacy:read"];
  const cases: readonly { scopes: Scopes; reads: boolean; writes: boolean }[] = [
    { scopes: common, reads: false, writes: false },
    { scopes: [...common, "payouts:read"], reads: true, writes: false },
    { scopes: [...common, "payouts:read", "payouts:write"], reads: true, writes: true },
  ];
  for (const { scopes, reads, writes } of cases) {
    const { client } = await api.createKey(session, { scopes });
    const { data } = await client.call(listAnnotations, { query: { ids: id } });
    expect(data, String(scopes)).toEqual(reads ? [written] : []);
    const answer = await refusal(client.call(putAnnotation, { params: { id }, body }));
    if (writes) expect(answer).toBe("ok");
    else expect(answer).toMatchObject({ status: 404, code: "not_found" });
  }
});

test("a memo needs the scope of operations, and credentials", async () => {
  const customer = await newCustomer(api);
  const [id = ""] = await operationsOf(customer, 1);
  const reader = await api.createKey(customer.session, { scopes: ["operations:read"] });
  const write = (client: typeof reader.client) =>
    refusal(client.call(putAnnotation, { params: { id }, body: { memo: "x", tags: [] } }));
  expect(await write(reader.client)).toMatchObject({ status: 403, code: "insufficient_scope" });
  expect(await write(api.client())).toMatchObject({ status: 401 });
  expect((await reader.client.call(listAnnotations, { query: { ids: id } })).data).toEqual([]);
});
