import { beforeAll, describe, expect, test } from "vitest";
import { cancelOperation, listOperations } from "@/lib/contracts/operations";
import { executeSwap } from "@/lib/contracts/swap";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import type { QueryInput } from "@/lib/contracts/contract";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { termsQuery } from "./list-repository";

const [ONE, TWO] = [31337, 31338];
const api = await testApi({ worker: true });
const { prisma, pool } = api.services.database;

let customer: Customer;
let transferId: string;
/**
 * Operation ids by state: a transfer to chain two that arrived, one that waits, and one that was
 * cancelled.
 */
const operations = { arrived: "", waiting: "", cancelled: "" };
const recipient = testAccount().address;

beforeAll(async () => {
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "100" });
  const from = { fromWalletId: customer.treasuryId, fromChainId: ONE, amount: "10" };
  const transfer = { ...from, toChainId: TWO, token: "USDC", toAddress: recipient };
  ({ transferId } = await prepareTransfer(api, customer, transfer));
  operations.arrived = (await client.call(executeSwap, { body: { transferId } })).operationId;
  await waitUntilFinal(client, operations.arrived);
  const start = async (toToken: string): Promise<string> => {
    const body = {
      ...from,
      toChainId: ONE,
      fromToken: "USDC",
      toToken,
      recipient: testAccount().address,
    };
    return (await client.call(swapAndTransfer, { body })).operationId;
  };
  operations.waiting = await start("WETH");
  operations.cancelled = await start("DAI");
  await client.call(cancelOperation, { params: { id: operations.cancelled } });
}, 180_000);

type Filter = QueryInput<typeof listOperations>;

const found = async (query: Filter): Promise<string[]> => {
  const { data } = await customer.session.client.call(listOperations, { query });
  return data.map(({ operationId }) => operationId);
};

describe("operations are found", () => {
  test("by status, kind, chain and wallet, newest first", async () => {
    const { arrived, waiting, cancelled } = operations;
    expect(await found({})).toEqual([cancelled, waiting, arrived]);
    expect(await found({ status: "pending" })).toEqual([waiting]);
    expect(await found({ status: "cancelled" })).toEqual([cancelled]);
    expect(await found({ kind: "transfer" })).toEqual([arrived]);
    expect(await found({ kind: "swap_and_transfer" })).toEqual([cancelled, waiting]);
    expect(await found({ chainId: TWO })).toEqual([arrived]);
    expect(await found({ chainId: ONE, status: "completed" })).toEqual([arrived]);
    expect(await found({ chainId: 31339 })).toEqual([]);
    expect(await found({ walletId: customer.treasuryId, limit: 1 })).toEqual([cancelled]);
    const nobody = "wal_01980000-0000-7000-8000-000000000000";
    expect(await found({ walletId: nobody })).toEqual([]);
    expect(await found({ chainId: `31339,${String(TWO)}` })).toEqual([arrived]);
    expect(await found({ walletId: `${nobody},${customer.treasuryId}` })).toEqual([
      cancelled,
      waiting,
      arrived,
    ]);
    expect(
      await found({ walletId: `${nobody},${customer.treasuryId}`, chainId: "31339,1" }),
    ).toEqual([]);
    expect(await found({ walletId: `${nobody},${customer.treasuryId}`, q: recipient })).toEqual(
      [arrived],
    );
  });

  test("by when they were created: from then, and before then", async () => {
    const rows = await prisma.operation.findMany({
      where: { id: { in: Object.values(operations) } },
    });
    const at = (id: string): string =>
      rows.find((row) => row.id === id)?.createdAt.toISOString() ?? "";
    const { arrived, waiting, cancelled } = operations;
    expect(await found({ from: at(waiting) })).toEqual([cancelled, waiting]);
    expect(await found({ to: at(waiting) })).toEqual([arrived]);
    expect(await found({ from: at(arrived), to: at(cancelled) })).toEqual([waiting, arrived]);
  });

  test("not by a time of the year 0, which the database does not know", async () => {
    const refused = { status: 400, code: "invalid_request", details: [{ path: "to" }] };
    await expect(found({ to: "0000-01-01T00:00:00Z" })).rejects.toMatchObject(refused);
  });

  test("by id, transfer, address, any of its transactions, or token, in any case", async () => {
    const { arrived, waiting, cancelled } = operations;
    const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId: arrived } });
    expect(await found({ q: arrived })).toEqual([arrived]);
    expect(await found({ q: transferId })).toEqual([arrived]);
    expect(await found({ q: recipient.toLowerCase() })).toEqual([arrived]);
    expect(await found({ q: customer.treasury })).toEqual([cancelled, waiting, arrived]);
    expect(await found({ q: leg.sourceTxHash ?? "" })).toEqual([arrived]);
    expect(
      await found({ q: (leg.destTxHash ?? "").toUpperCase().replace("0X", "0x") }),
    ).toEqual([arrived]);
    expect(await found({ q: "weth" })).toEqual([waiting]);
    expect(await found({ q: "usdc", status: "pending" })).toEqual([waiting]);
    for (const q of ["op_1", "tr_1", "0x12", "%", "'; DROP TABLE operation; --", "chain:31337"])
      expect([q, await found({ q })]).toEqual([q, []]);
  });

  test("page by page with a filter, without a gap or a double", async () => {
    const { client } = customer.session;
    const first = await client.call(listOperations, { query: { q: "USDC", limit: 2 } });
    const cursor = first.nextCursor ?? "";
    const second = await client.call(listOperations, {
      query: { q: "USDC", limit: 2, cursor },
    });
    const ids = [...first.data, ...second.data].map(({ operationId }) => operationId);
    expect(ids).toEqual([operations.cancelled, operations.waiting, operations.arrived]);
    expect(second.nextCursor).toBeNull();
  });

  test("in one's own project alone", async () => {
    const other = await newCustomer(api);
    const { client } = other.session;
    for (const q of [operations.arrived, transferId, recipient, "USDC"])
      expect((await client.call(listOperations, { query: { q } })).data).toEqual([]);
    const leg = await prisma.operationLeg.findFirstOrThrow({
      where: { operationId: operations.arrived },
    });
    expect(
      (await client.call(listOperations, { query: { q: leg.sourceTxHash ?? "" } })).data,
    ).toEqual([]);
  });

  test("with filters that make no sense refused", async () => {
    const headers = { authorization: `Bearer ${customer.session.accessToken}` };
    for (const query of [
      "status=sent",
      "kind=x",
      "chainId=-1",
      "chainId=1,,2",
      "walletId=,",
      "from=yesterday",
      `q=${"a".repeat(121)}`,
      "limit=101",
    ]) {
      expect([query, (await api.fetch(`/operations?${query}`, { headers })).status]).toEqual([
        query,
        400,
      ]);
    }
    expect((await api.fetch("/operations/export")).status).toBe(401);
  });
});

describe("the export", () => {
  const rowsOf = async (query = ""): Promise<string[][]> => {
    const headers = { authorization: `Bearer ${customer.session.accessToken}` };
    const response = await api.fetch(`/operations/export${query}`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const text = await response.text();
    expect(text.endsWith("\r\n")).toBe(true);
    return text
      .slice(0, -2)
      .split("\r\n")
      .map((line) => line.split(","));
  };

  test("has a header, a line per leg and the same filters as the list", async () => {
    const [header = [], ...rows] = await rowsOf();
    const cell = (row: string[] | undefined, name: string): string | undefined =>
      row?.[header.indexOf(name)];
    expect(rows.map((row) => cell(row, "operation_id"))).toEqual([
      operations.cancelled,
      operations.waiting,
      operations.arrived,
    ]);
    const arrived = rows.at(-1);
    expect(cell(arrived, "status")).toBe("completed");
    expect(cell(arrived, "sent")).toBe("10");
    expect(cell(arrived, "to_address")).toBe(recipient);
    expect(cell(arrived, "source_tx_hash")).toMatch(/^0x[0-9a-f]{64}$/);
    const [, ...pending] = await rowsOf("?status=pending");
    expect(pending.map((row) => cell(row, "operation_id"))).toEqual([operations.waiting]);
  });

  test("cannot be made to run a formula by a token's name", async () => {
    const { request } = await prisma.operation.findUniqueOrThrow({
      where: { id: operations.waiting },
    });
    const evil = JSON.parse(JSON.stringify(request).replaceAll('"USDC"', '"=1+1"')) as object;
    await prisma.operation.update({
      where: { id: operations.waiting },
      data: { request: evil },
    });
    const [, row] = await rowsOf("?status=pending");
    expect(row).toContain("'=1+1");
    expect(row).not.toContain("=1+1");
  });
});

test("a rare term is looked up in its index, not along all operations of the project", async () => {
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  await pool.query(
    `INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at, updated_at)
     SELECT 'op_0000' || lpad(n::text, 8, '0'), $1, 'swap', 'completed', 'full', jsonb_build_object('size', repeat(md5(n::text), 40)), '{}', 0, 'nobody',
       ARRAY['token:usdc', 'chain:1', 'wal_' || n::text], now() - interval '1 day', now() FROM generate_series(1, 20000) AS n`,
    [projectId],
  );
  await asOwner(api.services.config.databaseUrl, "VACUUM ANALYZE operation");
  const answers = await Promise.all([
    found({ q: recipient }),
    found({ chainId: TWO }),
    found({ q: operations.arrived }),
  ]);
  expect(answers).toEqual([[operations.arrived], [operations.arrived], [operations.arrived]]);
  for (const wanted of [
    { terms: ["wal_77"], oneOf: [] },
    { terms: [], oneOf: [["wal_77", "wal_78"]] },
  ]) {
    const { text, values } = termsQuery(projectId, wanted, 1001);
    const { rows } = await pool.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, [...values]);
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain(
      "operation_search_terms_idx",
    );
  }
}, 180_000);
