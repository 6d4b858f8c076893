/** Sums of movements are compared with sums by hand, and with the lists that their links open. */
import { beforeAll, describe, expect, test } from "vitest";
import { listActivity, summarizeActivity } from "@/lib/contracts/activity";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import { firstIdAt, newId } from "@/lib/core/ids";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { storedPrivateTransfer } from "@/lib/dev/testing/private-transfer";

const HERE = 31337;
const MICRO = 1_000_000;
const PERIOD = { from: "2026-01-01T00:00:00.000Z", to: "2026-04-01T00:00:00.000Z" };
const [payee, sender] = [testAccount().address, testAccount().address];

const usdc = {
  symbol: "USDC",
  name: "USD Coin",
  chainId: HERE,
  address: `0x${"c".repeat(40)}`,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};
const coin = {
  ...usdc,
  symbol: "ETH",
  name: "Ether",
  address: "native",
  decimals: 18,
  assetId: "eth",
  usdPegged: false,
};

let api: TestApi;
let ada: Customer;
let projectId = "";

type Group = ResponseOf<typeof summarizeActivity>["data"][number];
type Query = QueryInput<typeof summarizeActivity>;

const prisma = () => api.services.database.prisma;

/** An id of an object that was created at this time. */
const idAt = (kind: "operation" | "payout", at: string): string => {
  const start = firstIdAt(kind, new Date(at));
  return start + newId(kind).slice(start.length);
};

/** Stores the prices of a movement, as the policies recorded them. */
const priced = async (subjectId: string, usds: Readonly<Record<string, string>>) => {
  const id = newId("evaluation");
  const movements = Object.entries(usds).map(([asset, usd]) => ({ asset, usd }));
  await prisma().policyEvaluation.create({
    data: {
      ...{ id, projectId, subjectType: "operation", subjectId, decision: "allow" },
      ...{ digest: Buffer.alloc(32), mac: Buffer.alloc(32), code: "not", createdBy: "test" },
      ...{ facts: { movements }, policies: [], rules: [], createdAt: new Date() },
    },
  });
  return id;
};

interface Sent {
  readonly at: string;
  readonly to?: string;
  readonly kind?: string;
  readonly status?: string;
  readonly subStatus?: string;
  readonly sources?: readonly { token: typeof usdc; amountBase: string }[];
  readonly usds?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
}

const tagged = (subjectId: string, subjectType: string, tags: readonly string[]) =>
  prisma().annotation.create({
    data: {
      ...{ projectId, subjectType, subjectId, memo: "", tags: [...tags] },
      ...{ updatedBy: "test", updatedAt: new Date() },
    },
  });

const operation = async ({ at, usds, tags, ...sent }: Sent): Promise<string> => {
  const id = idAt("operation", at);
  const sources = (sent.sources ?? []).map((source) => ({ ...source, owner: ada.treasury }));
  const recipient = sent.to ?? payee;
  await prisma().operation.create({
    data: {
      ...{ id, projectId, kind: sent.kind ?? "transfer", createdBy: "test" },
      ...{ status: sent.status ?? "completed", subStatus: sent.subStatus ?? "full" },
      request: { sources, destination: { token: usdc, recipient }, slippageBps: 0 },
      ...{ quoted: { expectedBase: "1" }, minimumBase: 1, version: 0 },
      searchTerms: [recipient.toLowerCase(), "token:usdc", `chain:${String(HERE)}`],
      ...{ createdAt: new Date(at), updatedAt: new Date(at) },
      evaluationId: usds === undefined ? null : await priced(id, usds),
    },
  });
  if (tags !== undefined) await tagged(id, "operation", tags);
  return id;
};

const deposit = async (at: string): Promise<void> => {
  const id = idAt("operation", at);
  const request = {
    sources: [{ owner: sender, token: coin, amountBase: "1500000000000000000" }],
    destination: { token: coin, recipient: ada.treasury },
    slippageBps: 0,
  };
  const times = { createdAt: new Date(at), updatedAt: new Date(at) };
  await prisma().operation.create({
    data: {
      ...{ id, projectId, kind: "deposit", status: "completed", subStatus: "full" },
      ...{ request, quoted: { expectedBase: "1500000000000000000" }, createdBy: "deposit" },
      ...{ minimumBase: "1500000000000000000", searchTerms: [], ...times },
    },
  });
  await prisma().deposit.create({
    data: {
      ...{ id, projectId, chainId: HERE, txHash: `0x${"d".repeat(64)}`, logIndex: 0 },
      ...{ blockNumber: 1, walletId: ada.treasuryId, walletAddress: ada.treasury },
      ...{ token: "native", sender, amountBase: "1500000000000000000" },
      ...{ usdMicro: 4500 * MICRO, state: "credited", isHeld: false },
      ...{ detectedAt: new Date(at), updatedAt: new Date(at) },
    },
  });
};

interface Paid {
  readonly at: string;
  readonly status: string;
  readonly total: number;
  readonly paid: number;
  readonly recipients: readonly string[];
  readonly tags?: readonly string[];
}

const payout = async ({ at, status, total, paid, recipients, tags }: Paid): Promise<string> => {
  const payoutId = idAt("payout", at);
  const usd = String(total / MICRO);
  const times = { createdAt: new Date(at), updatedAt: new Date(at) };
  await prisma().payout.create({
    data: {
      ...{ id: payoutId, projectId, kind: "wallets", mode: "independent", status },
      ...{ subStatus: status === "completed" ? "full" : "partial", totalBase: 0 },
      ...{ itemsTotal: recipients.length, digest: Buffer.alloc(32), createdBy: "test" },
      ...{ evaluationId: await priced(payoutId, { usdc: usd }), ...times },
    },
  });
  await prisma().walletPayout.create({
    data: {
      ...{ projectId, payoutId, chainId: HERE, fromWalletId: ada.treasuryId },
      fromAddress: ada.treasury,
      totals: [{ token: usdc, amountBase: String(total), rows: recipients.length }],
      ...{ warnings: [], feeWei: 0, feePaidBy: "wallet", askedBy: "test" },
    },
  });
  await prisma().walletPayoutItem.createMany({
    data: recipients.map((recipient, index) => ({
      ...{ projectId, payoutId, index, recipient, token: usdc.address, batch: index },
      amountBase: 1,
    })),
  });
  await prisma().walletPayoutBatch.create({
    data: {
      ...{ projectId, payoutId, number: 0, walletAddress: ada.treasury, chainId: HERE },
      ...{ token: usdc.address, rows: 1, amountBase: paid, state: "paid" },
      updatedAt: new Date(at),
    },
  });
  if (tags !== undefined) await tagged(payoutId, "payout", tags);
  return payoutId;
};

const sent = (amount: number) => [{ token: usdc, amountBase: String(amount * MICRO) }];

const ids = { mixed: "", private: "" };

beforeAll(async () => {
  api = await testApi();
  ada = await newCustomer(api);
  ({ projectId } = await prisma().wallet.findFirstOrThrow({
    where: { address: ada.treasury },
  }));
  await operation({ at: "2026-01-10T00:00:00Z", sources: sent(10), usds: { usdc: "10.01" } });
  await deposit("2026-01-31T23:30:00Z");
  // No price was recorded, and a dollar token is worth a dollar.
  await operation({ at: "2026-02-01T10:00:00Z", to: sender, sources: sent(5) });
  const own = { to: ada.treasury.toLowerCase(), sources: sent(100), usds: { usdc: "100" } };
  await operation({ at: "2026-02-02T00:00:00Z", ...own });
  await payout({
    ...{ at: "2026-02-05T00:00:00Z", status: "completed", recipients: [payee] },
    ...{ total: 7_250_000, paid: 7_250_000, tags: ["Payroll", "May"] },
  });
  ids.private = await operation({
    ...{ at: "2026-02-06T00:00:00Z", kind: "private_transfer" },
    ...{ sources: sent(3), usds: { usdc: "3" }, tags: ["payroll"] },
  });
  const walletId = "pw_01980000-0000-7000-8000-000000000000";
  await storedPrivateTransfer(api.services, { operationId: ids.private, walletId });
  await operation({ at: "2026-02-08T00:00:00Z", status: "failed", sources: sent(1000) });
  await operation({
    at: "2026-02-09T00:00:00Z",
    sources: [{ token: coin, amountBase: "2000000000000000000" }],
  });
  await payout({
    ...{ at: "2026-03-01T00:00:00Z", status: "partially_completed" },
    ...{ recipients: [payee, sender], total: 10_000_000, paid: 4_000_000 },
  });
  ids.mixed = await operation({
    ...{ at: "2026-03-05T00:00:00Z", usds: { usdc: "20", eth: "30" } },
    sources: [...sent(20), { token: coin, amountBase: "10000000000000000" }],
  });
  await operation({ at: "2025-12-31T00:00:00Z", sources: sent(1), usds: { usdc: "1" } });
}, 120_000);

const summary = (query: Query, client = ada.session.client) =>
  client.call(summarizeActivity, { query: { ...PERIOD, ...query } });

const shown = (groups: readonly Group[]) =>
  groups.map(({ key, count, in: into, out, unpriced }) => [
    key,
    count,
    into.usd,
    out.usd,
    unpriced,
  ]);

test("months are summed in US dollars, newest first, and own wallets are neither in nor out", async () => {
  const { data, cut, from, to } = await summary({ by: "month" });
  expect(shown(data)).toEqual([
    ["2026-03", 2, "0", "54", 0],
    ["2026-02", 5, "0", "15.25", 1],
    ["2026-01", 2, "4500", "10.01", 0],
  ]);
  expect(data.map(({ label }) => label)).toEqual([
    "March 2026",
    "February 2026",
    "January 2026",
  ]);
  expect({ cut, from, to }).toEqual({ cut: 0, ...PERIOD });
});

test("a month begins in the time zone of the caller", async () => {
  const { data } = await summary({ by: "month", timeZone: "Europe/Berlin" });
  expect(shown(data).slice(1)).toEqual([
    ["2026-02", 6, "4500", "15.25", 1],
    ["2026-01", 1, "0", "10.01", 0],
  ]);
  expect(data[1]?.filter).toMatchObject({
    from: "2026-01-31T23:00:00.000Z",
    to: "2026-02-28T23:00:00.000Z",
  });
  for (const timeZone of ["+01:00", "Nowhere/Here"])
    await expect(summary({ by: "month", timeZone })).rejects.toMatchObject({ status: 400 });
});

test("counterparties are sorted by the money that they moved", async () => {
  const { data } = await summary({ by: "counterparty" });
  expect(shown(data)).toEqual([
    [sender, 2, "4500", "5", 0],
    [payee, 5, "0", "70.26", 1],
    ["several", 1, "0", "4", 0],
    [ada.treasury, 1, "0", "0", 0],
  ]);
});

test("tokens have exact amounts, and the worth of each token of a movement", async () => {
  const { data } = await summary({ by: "token" });
  expect(data.map(({ key, count, in: into, out }) => [key, count, into, out])).toEqual([
    ["eth", 3, { usd: "4500", amount: "1.5" }, { usd: "30", amount: "2.01" }],
    ["usdc", 7, { usd: "0", amount: "0" }, { usd: "49.26", amount: "49.25" }],
  ]);
});

test("tags are compared without case, and movements without a tag are one group", async () => {
  const { data } = await summary({ by: "tag" });
  expect(shown(data)).toEqual([
    [null, 7, "4500", "69.01", 1],
    ["payroll", 2, "0", "10.25", 0],
    ["may", 1, "0", "7.25", 0],
  ]);
  expect(data[0]).toMatchObject({ label: "No tag", filter: null });
});

test("money that moved without any price is null, not zero", async () => {
  const { data } = await summary({
    by: "month",
    from: "2026-02-09T00:00:00Z",
    to: "2026-02-10T00:00:00Z",
  });
  expect(shown(data)).toEqual([["2026-02", 1, "0", null, 1]]);
});

describe.each(["counterparty", "token", "tag", "month"] as const)("by %s", (by) => {
  test("each link lists exactly the movements that were counted", async () => {
    const { data } = await summary({ by });
    for (const { filter, count } of data) {
      if (filter === null) continue;
      const found = await ada.session.client.call(listActivity, {
        query: { ...filter, limit: 100 },
      });
      expect(found.data).toHaveLength(count);
    }
  });

  test("the sums out of complete movements are those of the list", async () => {
    const query = {
      by,
      status: "completed",
      kind: "transfer,payout_to_wallets,private_transfer",
    };
    const { data } = await summary(query);
    for (const { key, filter, out } of data) {
      if (filter === null || by === "token") continue;
      const found = await ada.session.client.call(listActivity, { query: filter });
      const usd = found.data.reduce((sum, row) => sum + Number(row.usd ?? "0") * 100, 0);
      expect(Math.round(Number(out.usd) * 100)).toBe(
        key === ada.treasury ? 0 : outOf(usd, by, key),
      );
    }
  });
});

/** The sum of the list without the move to the own wallet, which does not go out. */
const outOf = (cents: number, by: string, key: string | null): number =>
  Math.round(by === "month" && key === "2026-02" ? cents - 10_000 : cents);

test("named statuses and other filters select what is summed", async () => {
  expect(shown((await summary({ by: "month", status: "failed" })).data)).toEqual([
    ["2026-02", 1, "0", "1000", 0],
  ]);
  expect(shown((await summary({ by: "month", kind: "payout_to_wallets" })).data)).toEqual([
    ["2026-03", 1, "0", "4", 0],
    ["2026-02", 1, "0", "7.25", 0],
  ]);
  expect(shown((await summary({ by: "tag", tag: "PAYROLL" })).data)).toEqual([
    ["payroll", 2, "0", "10.25", 0],
    ["may", 1, "0", "7.25", 0],
  ]);
  expect(shown((await summary({ by: "month", counterparty: sender })).data)).toEqual([
    ["2026-02", 1, "0", "5", 0],
    ["2026-01", 1, "4500", "0", 0],
  ]);
  expect((await summary({ by: "month", q: ids.mixed })).data).toMatchObject([{ count: 1 }]);
  expect((await summary({ by: "month", q: "usdc", walletId: "wal_none" })).data).toEqual([]);
  expect(
    shown((await summary({ by: "month", assetId: "eth", kind: "transfer" })).data),
  ).toEqual([
    ["2026-03", 1, "0", "50", 0],
    ["2026-02", 1, "0", null, 1],
  ]);
});

test("pages of one counterparty hold its movements once", async () => {
  const whole = await ada.session.client.call(listActivity, { query: { counterparty: payee } });
  const read: string[] = [];
  let cursor: string | null = null;
  do {
    const query: QueryInput<typeof listActivity> = {
      counterparty: payee.toLowerCase(),
      limit: 2,
      ...(cursor === null ? {} : { cursor }),
    };
    const page: ResponseOf<typeof listActivity> = await ada.session.client.call(listActivity, {
      query,
    });
    read.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(read).toHaveLength(7);
  expect(read).toEqual(whole.data.map(({ id }) => id));
});

test("a key sums only what it may read", async () => {
  const sums = async (
    ...scopes: ("operations:read" | "payouts:read" | "privacy:read")[]
  ): Promise<unknown> => {
    const { client } = await api.createKey(ada.session, { scopes });
    const { data } = await summary({ by: "counterparty" }, client);
    return shown(data).find(([key]) => key === payee);
  };
  expect(await sums("operations:read")).toEqual([payee, 3, "0", "60.01", 1]);
  expect(await sums("operations:read", "payouts:read")).toEqual([payee, 4, "0", "67.26", 1]);
  expect(await sums("operations:read", "privacy:read")).toEqual([payee, 4, "0", "63.01", 1]);
  const { client } = await api.createKey(ada.session, { scopes: ["payouts:read"] });
  await expect(summary({ by: "month" }, client)).rejects.toMatchObject({ status: 403 });
});

test("another project sees nothing of it", async () => {
  const eve = await newCustomer(api);
  for (const counterparty of [undefined, payee]) {
    const { client } = eve.session;
    expect((await summary({ by: "counterparty", counterparty }, client)).data).toEqual([]);
    expect((await client.call(listActivity, { query: { counterparty } })).data).toEqual([]);
  }
});

test("without a period the last 12 months are summed", async () => {
  const { from, to } = await ada.session.client.call(summarizeActivity, {
    query: { by: "month" },
  });
  const [start, end] = [new Date(from), new Date(to)];
  expect(end.getUTCFullYear() - start.getUTCFullYear()).toBe(1);
});

test("at most 200 groups are returned, the largest ones, and the others are counted", async () => {
  const at = (index: number) => new Date(Date.UTC(2024, 0, 1, 0, 0, index)).toISOString();
  for (let index = 0; index < 203; index += 1) {
    const to = `0x${(index + 1).toString(16).padStart(40, "0")}`;
    await operation({ at: at(index), to, sources: sent(index + 1) });
  }
  const { data, cut } = await summary({ by: "counterparty", from: at(0), to: at(300) });
  expect([data.length, cut]).toEqual([200, 3]);
  expect(shown(data).at(-1)?.[3]).toBe("4");
});
