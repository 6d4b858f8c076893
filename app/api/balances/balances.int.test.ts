import { beforeAll, describe, expect, test, vi } from "vitest";
import { getBalanceHistory, getUnifiedBalances } from "@/lib/contracts/balances";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { asOwner } from "@/lib/dev/testing/database";

const api = await testApi();
const CHAIN = 31337;
let customer: Customer;
let stranger: TestSession;

beforeAll(async () => {
  [customer, stranger] = await Promise.all([newCustomer(api), api.signIn()]);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "12.5",
  });
});

const projectOf = async (address: string): Promise<string> =>
  (await api.services.database.prisma.wallet.findFirstOrThrow({ where: { address } }))
    .projectId;

const statusOf = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
  (await api.fetch(path, { headers })).status;

const bearer = (session: TestSession) => ({ authorization: `Bearer ${session.accessToken}` });

describe("GET /balances/unified", () => {
  test("adds up every wallet of the project, and none that was unlinked", async () => {
    const projectId = await projectOf(customer.treasury);
    const [linked, unlinked] = [testAccount().address, testAccount().address];
    const at = new Date();
    await api.services.database.prisma.wallet.createMany({
      data: [
        {
          id: "wal_01linked00000000000000000",
          projectId,
          kind: "linked",
          address: linked,
          createdAt: at,
        },
        {
          id: "wal_01unlinked000000000000000",
          projectId,
          kind: "linked",
          address: unlinked,
          createdAt: at,
          unlinkedAt: at,
        },
      ],
    });
    await fund(customer.session.client, linked, { chainId: CHAIN, token: "USDC", amount: "1" });
    await fund(customer.session.client, unlinked, {
      chainId: CHAIN,
      token: "USDC",
      amount: "100",
    });
    const answer = await api.services.balances.unified(projectId);
    expect(answer.stale).toEqual([]);
    expect(answer.totals.find(({ assetId }) => assetId === "usdc")?.amountBase).toBe(
      13_500_000n,
    );
    const { databaseUrl } = api.services.config;
    await asOwner(databaseUrl, "DELETE FROM wallet WHERE address = ANY($1::text[])", [
      [linked, unlinked],
    ]);
  });
});

describe("GET /balances/history", () => {
  test("shows what was read, to the project alone", async () => {
    await customer.session.client.call(getUnifiedBalances, {});
    await vi.waitFor(
      async () => {
        const { data } = await customer.session.client.call(getBalanceHistory, { query: {} });
        expect(data).toHaveLength(1);
        expect(data[0]?.assets.find(({ assetId }) => assetId === "usdc")).toMatchObject({
          token: "USDC",
          usd: expect.any(String) as string,
        });
      },
      { timeout: 20_000, interval: 50 },
    );
    const other = await stranger.client.call(getBalanceHistory, { query: {} });
    expect(other.data).toEqual([]);
  });

  test("wants a number of days from 1 to 365", async () => {
    const codes = await Promise.all(
      ["0", "366", "1.5", "x"].map((days) =>
        statusOf(`/balances/history?days=${days}`, bearer(customer.session)),
      ),
    );
    expect(codes).toEqual([400, 400, 400, 400]);
    expect(await statusOf("/balances/history?days=365", bearer(customer.session))).toBe(200);
  });

  test("is for members and keys with the scope alone", async () => {
    expect(await statusOf("/balances/history")).toBe(401);
    const reader = await api.createKey(customer.session, { scopes: ["balances:read"] });
    expect(
      (await reader.client.call(getBalanceHistory, { query: {} })).data.length,
    ).toBeGreaterThan(0);
    const other = await api.createKey(customer.session, { scopes: ["operations:read"] });
    expect(await statusOf("/balances/history", { "x-api-key": other.secret })).toBe(403);
  });
});
