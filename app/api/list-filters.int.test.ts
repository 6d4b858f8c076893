/**
 * Every filter of a list leaves exactly the records that have what it asks for, as the whole list
 * shows them.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { createContact, listContacts } from "@/lib/contracts/contacts";
import { listDeposits } from "@/lib/contracts/deposits";
import { listNotifications } from "@/lib/contracts/notifications";
import {
  createPayoutSchedule,
  cancelPayoutSchedule,
  listPayoutSchedules,
} from "@/lib/contracts/payout-schedules";
import { cancelPayout, createWalletsPayout, listPayouts } from "@/lib/contracts/payouts";
import { listPrivateTransfers, shield } from "@/lib/contracts/privacy";
import { executeSwap } from "@/lib/contracts/swap";
import { cancelTransfer, createTransfer, listTransfers } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import { depositStates } from "@/lib/contracts/deposit-records";
import { newId } from "@/lib/core/ids";
import { isPaged } from "@/lib/http/cursor";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareTransfer, type Customer } from "@/lib/dev/testing/journey";

const [ONE, TWO] = [31337, 31338];
const DAY_MS = 86_400_000;

let api: TestApi;
let customer: Customer;
let treasuryTwo = "";

const someone = () => testAccount().address;
const prisma = () => api.services.database.prisma;
const transferOf = (toChainId: number) => ({
  fromWalletId: customer.treasuryId,
  toAddress: someone(),
  fromChainId: ONE,
  toChainId,
  token: "USDC",
  amount: "50",
});

/** One transfer in each state that is reached without a worker, to two chains. */
const makeTransfers = async (): Promise<void> => {
  const { client } = customer.session;
  const make = async (toChainId: number) =>
    (await client.call(createTransfer, { body: transferOf(toChainId) })).id;
  await make(ONE);
  await make(TWO);
  await client.call(cancelTransfer, { params: { id: await make(ONE) } });
  const old = { expiresAt: new Date(0), createdAt: new Date(Date.now() - DAY_MS) };
  await prisma().quote.update({ where: { transferId: await make(TWO) }, data: old });
  const prepared = await prepareTransfer(api, customer, transferOf(ONE));
  // A prepared transfer is kept until `preparedUntil`, although its price has expired.
  await prisma().quote.update({
    where: { transferId: prepared.transferId },
    data: { expiresAt: new Date(0) },
  });
  const executed = await prepareTransfer(api, customer, transferOf(ONE));
  await client.call(executeSwap, { body: { transferId: executed.transferId } });
  const failed = await prepareTransfer(api, customer, transferOf(ONE));
  const { operationId } = await client.call(executeSwap, {
    body: { transferId: failed.transferId },
  });
  await prisma().operation.update({
    where: { id: operationId },
    data: { status: "failed", subStatus: "full" },
  });
};

const makePayouts = async (): Promise<void> => {
  const { client } = customer.session;
  const rows = {
    chainId: ONE,
    transfers: [{ address: someone(), amount: "1", token: "USDC" }],
  };
  await client.call(createWalletsPayout, { body: rows });
  const other = { ...rows, transfers: [{ address: someone(), amount: "1", token: "USDC" }] };
  const { id } = await client.call(createWalletsPayout, { body: other });
  await client.call(cancelPayout, { params: { id: id ?? "" } });
  await prisma().payout.update({
    where: { id: id ?? "" },
    data: { createdAt: new Date(Date.now() - DAY_MS) },
  });
  const startsAt = new Date(Date.now() + DAY_MS).toISOString();
  for (const chainId of [ONE, TWO]) {
    const body = { ...rows, chainId, startsAt, every: "day" as const };
    const schedule = await client.call(createPayoutSchedule, { body });
    if (chainId === TWO)
      await client.call(cancelPayoutSchedule, { params: { id: schedule.id } });
  }
};

const makeDeposits = async (): Promise<void> => {
  const { projectId } = await prisma().wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  for (const [index, state] of [...depositStates, "own", "unclear"].entries())
    await prisma().deposit.create({
      data: {
        projectId,
        id: newId("operation"),
        chainId: index % 2 === 0 ? ONE : TWO,
        txHash: `0x${String(index).padStart(64, "0")}`,
        logIndex: 0,
        blockNumber: 1n,
        walletId: index % 3 === 0 ? treasuryTwo : customer.treasuryId,
        walletAddress: customer.treasury,
        token: "native",
        amountBase: 5,
        state,
        isHeld: false,
        detectedAt: new Date(Date.now() - index * DAY_MS),
        updatedAt: new Date(),
      },
    });
};

beforeAll(async () => {
  api = await testApi();
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "1000" });
  treasuryTwo = (await newCustomer(api)).treasuryId;
  await makeTransfers();
  await makePayouts();
  await makeDeposits();
  for (let index = 0; index < 2; index += 1)
    await client.call(shield, { body: { chainId: ONE, token: "USDC", amount: "20" } });
  const { projectId, userId } = await prisma().membership.findFirstOrThrow({
    where: { role: "owner" },
  });
  const news = {
    projectId,
    userId,
    kind: "operation_failed",
    title: "It failed",
    path: "/activity",
    inApp: true,
  };
  for (const [index, readAt] of [null, new Date(), null].entries()) {
    const createdAt = new Date(Date.now() - index * DAY_MS);
    const own = {
      id: newId("notification"),
      source: newId("event"),
      mail: "none",
      createdAt,
      readAt,
    };
    await prisma().notification.create({ data: { ...news, ...own } });
  }
}, 120_000);

type Row = Readonly<Record<string, unknown>>;
interface List {
  readonly all: (query: object) => Promise<{ data: readonly Row[] }>;
  /** The field that `from` and `to` bound. */
  readonly time: string;
  /** Fields of a record that each filter compares. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const call =
  (path: string) =>
  async (query: object): Promise<{ data: readonly Row[] }> => {
    const search = new URLSearchParams({ limit: "100", ...query }).toString();
    const headers = { authorization: `Bearer ${customer.session.accessToken}` };
    return (await api.fetch(`${path}?${search}`, { headers })).json() as Promise<{
      data: readonly Row[];
    }>;
  };

const LISTS: Readonly<Record<string, List>> = {
  listTransfers: {
    all: call(listTransfers.path),
    time: "createdAt",
    fields: {
      status: ["status"],
      chainId: ["fromChainId", "toChainId"],
      walletId: ["fromWalletId"],
    },
  },
  listPayouts: {
    all: call(listPayouts.path),
    time: "createdAt",
    fields: { status: ["status"], kind: ["kind"] },
  },
  listPayoutSchedules: {
    all: call(listPayoutSchedules.path),
    time: "createdAt",
    fields: { status: ["status"], chainId: ["chainId"] },
  },
  listDeposits: {
    all: call(listDeposits.path),
    time: "detectedAt",
    fields: { state: ["state"], chainId: ["chainId"], walletId: ["walletId"] },
  },
  listPrivateTransfers: {
    all: call(listPrivateTransfers.path),
    time: "createdAt",
    fields: { kind: ["kind"], chainId: ["chainId"] },
  },
  listNotifications: { all: call(listNotifications.path), time: "createdAt", fields: {} },
};

test("the address book can be narrowed to one address, and to one state", async () => {
  const { client } = customer.session;
  const [ada, bea] = [someone(), someone()];
  await client.call(createContact, { body: { name: "Ada", address: ada } });
  const { id } = await client.call(createContact, { body: { name: "Bea", address: bea } });
  await prisma().contact.update({ where: { id }, data: { state: "approved" } });
  const names = async (query: object) => {
    const { data } = await client.call(listContacts, { query });
    return data.map(({ name }) => name);
  };
  expect(await names({ address: ada.toLowerCase() })).toEqual(["Ada"]);
  expect(await names({ state: "approved" })).toEqual(["Bea"]);
  expect(await names({ address: ada, state: "approved" })).toEqual([]);
});

describe.each(Object.entries(LISTS))("%s", (operationId, { all, time, fields }) => {
  const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

  test("filters by each value that its records have, alone and together", async () => {
    const { data } = await all({});
    expect(data.length).toBeGreaterThan(1);
    for (const [filter, names] of Object.entries(fields)) {
      const values = [
        ...new Set(data.flatMap((row) => names.map((name) => String(row[name])))),
      ];
      const asked =
        filter === "kind" && operationId === "listPayouts" ? [] : [values.slice(0, 2)];
      for (const wanted of [...values.map((value) => [value]), ...asked]) {
        const expected = data.filter((row) =>
          names.some((name) => wanted.includes(String(row[name]))),
        );
        expect(idsOf((await all({ [filter]: wanted.join(",") })).data)).toEqual(
          idsOf(expected),
        );
      }
    }
  });

  test("filters by time: `from` is inclusive, `to` is exclusive", async () => {
    const { data } = await all({});
    const times = [...new Set(data.map((row) => String(row[time])))].sort();
    for (const at of [times[0], times.at(-1)]) {
      const [since, before] = [await all({ from: at }), await all({ to: at })];
      expect(idsOf(since.data)).toEqual(
        idsOf(data.filter((row) => String(row[time]) >= (at ?? ""))),
      );
      expect(idsOf(before.data)).toEqual(
        idsOf(data.filter((row) => String(row[time]) < (at ?? ""))),
      );
    }
  });
});

test.each(Object.entries(LISTS).filter(([, { fields }]) => "chainId" in fields))(
  "%s refuses a chain id that no chain can have",
  async (_, { all }) => {
    expect(await all({ chainId: "31337,9268834463" })).toMatchObject({
      code: "invalid_request",
      details: [{ path: "chainId", message: expect.stringContaining("2147483647") as string }],
    });
  },
);

test("transfers of every status that no worker is needed for were compared", async () => {
  const { data } = await customer.session.client.call(listTransfers);
  expect([...new Set(data.map(({ status }) => status))].sort()).toEqual([
    "cancelled",
    "expired",
    "failed",
    "pending",
  ]);
});

test("notifications can be narrowed to those that were not read, and wallets to kinds", async () => {
  const { client } = customer.session;
  const { data } = await client.call(listNotifications, { query: {} });
  const unread = data.filter(({ readAt }) => readAt === null);
  expect(unread).toHaveLength(2);
  expect((await client.call(listNotifications, { query: { unread: "true" } })).data).toEqual(
    unread,
  );
  expect(
    (await client.call(listWallets, { query: { kind: "treasury,linked" } })).data.map(
      ({ kind }) => kind,
    ),
  ).toContain("treasury");
  expect((await client.call(listWallets, { query: { kind: "smart_account" } })).data).toEqual(
    [],
  );
});

/** Lists that have no filter, with the reason. */
const WITHOUT_FILTER: Readonly<Record<string, string>> = {
  getUnifiedBalances: "pages of wallets and chains of one answer",
  listApiKeys: "a project has few, and the first page has up to 1,000",
  listEntries: "an account's entries, in their order; GET …/statement bounds them by time",
  listExports: "files are kept for 7 days, so a project has few",
  listMembers: "a project has few, and the first page has up to 1,000",
  listPayoutScheduleItems: "rows of one request, in their order",
  listWebhookEndpoints: "a project has few, and the first page has up to 1,000",
};

test("every other paged list has a filter", () => {
  const bare = namedContracts
    .filter(({ contract }) => isPaged(contract))
    .filter(({ contract }) => {
      const { query } = contract as { query?: { shape?: object } };
      return Object.keys(query?.shape ?? {}).every(
        (name) => name === "limit" || name === "cursor",
      );
    });
  expect(bare.map(({ operationId }) => operationId).sort()).toEqual(
    Object.keys(WITHOUT_FILTER).sort(),
  );
});
