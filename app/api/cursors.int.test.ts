/**
 * Every paged list takes its own cursors with the filters that they came with, and refuses every
 * other.
 */
import { beforeAll, expect, test } from "vitest";
import { namedContracts, type NamedContract } from "@/lib/contracts/all";
import { createGlobalAccount, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { getMe } from "@/lib/contracts/auth";
import { isPaged, withCursor } from "@/lib/http/cursor";
import { parseQuery } from "@/lib/http/parse";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";

/** One filter for each list that can be filtered. */
const FILTERS: Readonly<Record<string, string>> = {
  getUnifiedBalances: "",
  listActivity: "q=USDC",
  listApiKeyRequests: "method=GET",
  listApiKeys: "",
  listAuditLog: "action=api_key.created",
  listContacts: "state=approved",
  listDecisions: "state=open",
  listDeliveries: "status=failed",
  listDeposits: "state=quarantined",
  listEntries: "",
  listExports: "",
  listGlobalAccounts: "q=Ada",
  listMembers: "",
  listNotifications: "unread=true",
  listOperations: "status=failed",
  listPayoutItems: "status=failed",
  listPayoutScheduleItems: "",
  listPayoutSchedules: "status=active",
  listPayouts: "status=failed",
  listPrivateTransfers: "privacyWalletId=pw_1",
  listTransfers: "status=expired",
  listWallets: "address=0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  listWebhookEndpoints: "",
};
const UUID = "01980000-0000-7000-8000-000000000000";
/** Places in lists that read their form. Other lists only compare it. */
const POSITIONS: Readonly<Record<string, string>> = {
  listActivity: UUID,
  listApiKeys: `key_${UUID} 2026-01-01T00:00:00.000Z`,
  listContacts: `ct_${UUID} Corner shop`,
  listGlobalAccounts: `ga_${UUID}`,
  listMembers: `usr_${UUID} 2026-01-01T00:00:00.000Z`,
};
const POSITION = "1";

const paged = namedContracts.filter(({ contract }) => isPaged(contract));
const cases = paged.map((one) => [one.operationId, one] as const);

let api: TestApi;
let owner: TestSession;
let projectId = "";

beforeAll(async () => {
  api = await testApi();
  owner = await api.signIn();
  projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
});

const pathOf = ({ contract }: NamedContract): string =>
  contract.path.replace(/\{[^}]+\}/g, "x");

/** The cursor that the list gives at a position, with these filters. */
const cursorOf = (one: NamedContract, filters = "", project = projectId): string => {
  const { contract } = one;
  const names = [...contract.path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = ""]) => [name, "x"] as const,
  );
  const page = {
    contract,
    params: names.length === 0 ? undefined : Object.fromEntries(names),
    query: parseQuery(contract, `?${filters}`),
    projectId: project,
  };
  const body = withCursor(page, api.services.config, {
    nextCursor: POSITIONS[one.operationId] ?? POSITION,
  }) as { readonly nextCursor: string };
  return body.nextCursor;
};

const read = async (one: NamedContract, cursor: string, filters = "") => {
  const search = new URLSearchParams(filters);
  search.set("cursor", cursor);
  const response = await api.fetch(`${pathOf(one)}?${search.toString()}`, {
    headers: { authorization: `Bearer ${owner.accessToken}` },
  });
  const { code, details } = (await response.json()) as {
    code?: string;
    details?: readonly { path: string }[];
  };
  return { status: response.status, code, path: details?.[0]?.path };
};

const REFUSED = { status: 400, code: "invalid_cursor", path: "cursor" };

test("the table names every paged list", () => {
  expect(Object.keys(FILTERS)).toEqual(paged.map(({ operationId }) => operationId).sort());
  for (const { operationId, contract } of paged)
    expect([operationId, FILTERS[operationId] === ""]).toEqual([
      operationId,
      Object.keys((contract.query as unknown as { shape: object }).shape).every((name) =>
        ["limit", "cursor", "format"].includes(name),
      ),
    ]);
});

test.each(cases)("%s takes its own cursor", async (_, one) => {
  // Objects of the paths do not exist; that is found after the cursor was read.
  const { status } = await read(one, cursorOf(one));
  expect(status).toBe(pathOf(one).includes("/x") ? 404 : 200);
  expect((await read(one, cursorOf(one), "limit=7")).status).toBe(status);
});

test.each(cases)("%s refuses garbage", async (_, one) => {
  const whole = cursorOf(one);
  const raw = ["op_01980000-0000-7000-8000-000000000000", POSITION, "null", "2024-01-01"];
  for (const garbage of [
    "garbage",
    ...raw,
    "",
    "=",
    whole.slice(0, -1),
    `${whole}A`,
    `A${whole}`,
    `${whole}*`,
  ])
    expect([garbage, await read(one, garbage)]).toEqual([garbage, REFUSED]);
});

test.each(cases)("%s refuses cursors of other lists and of other projects", async (_, one) => {
  for (const other of paged.filter((each) => each !== one))
    expect([other.operationId, await read(one, cursorOf(other))]).toEqual([
      other.operationId,
      REFUSED,
    ]);
  expect(await read(one, cursorOf(one, "", "prj_other"))).toEqual(REFUSED);
});

test.each(cases.filter(([operationId]) => FILTERS[operationId] !== ""))(
  "%s refuses a cursor of other filters",
  async (operationId, one) => {
    const filters = FILTERS[operationId] ?? "";
    expect(await read(one, cursorOf(one), filters)).toEqual(REFUSED);
    expect(await read(one, cursorOf(one, filters))).toEqual(REFUSED);
    expect((await read(one, cursorOf(one, filters), filters)).code).not.toBe("invalid_cursor");
  },
);

test("a real list can be read to its end, page by page, and shows no position", async () => {
  for (const name of ["One", "Two", "Three"])
    await owner.client.call(createGlobalAccount, { body: { currency: "USDC", name } });
  const names: (string | null)[] = [];
  for (let cursor: string | undefined, turn = 0; turn < 5; turn += 1) {
    const page = await owner.client.call(listGlobalAccounts, {
      query: { limit: 1, ...(cursor === undefined ? {} : { cursor }) },
    });
    names.push(...page.data.map((account) => account.name));
    if (page.nextCursor === null) break;
    expect(page.nextCursor).not.toContain(page.data[0]?.id ?? "");
    cursor = page.nextCursor;
  }
  expect(names).toEqual(["Three", "Two", "One"]);
});
