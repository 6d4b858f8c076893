import { afterEach, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { testApi } from "@/lib/dev/testing/api";
import { killNode, nodeOfProject, urlOfNode } from "@/lib/dev/testing/cluster-node";
import { serveApi } from "@/lib/dev/testing/http";

const CUSTOMERS_MAX = 12;
const BACK = { timeout: 90_000, interval: 250 };
const TIMEOUT_MS = 240_000;

const api = await testApi({ devnet: false });
const url = await serveApi(api.services);
const { database, ledger } = api.services;

interface Customer {
  readonly projectId: string;
  readonly token: string;
  /** Host and port of the Citus node that holds the project's rows. */
  readonly node: string;
  readonly from: string;
  readonly to: string;
}

const newCustomer = async (): Promise<Customer> => {
  const session = await api.signIn();
  const { projectId } = await database.prisma.membership.findFirstOrThrow({
    where: { user: { address: session.account.address } },
  });
  const common = { projectId, currency: "usdc", by: "test" };
  const from = await ledger.openAccount({ ...common, key: "from" });
  const to = await ledger.openAccount({ ...common, key: "to" });
  await ledger.fund({
    ...common,
    key: "fund",
    to: from,
    amountBase: 100n,
    liabilitiesMaxBase: null,
  });
  return {
    projectId,
    token: session.accessToken,
    node: await nodeOfProject(database.pool, projectId),
    from,
    to,
  };
};

const get = (path: string, { token }: Customer): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });

const PATHS = ["/global-accounts", "/operations", "/payouts"];

const move = ({ projectId, from, to }: Customer, key: string) =>
  ledger.transfer({ projectId, from, to, amountBase: 1n, currency: "usdc", key, by: "test" });

const balanceOf = async ({ projectId, to }: Customer): Promise<bigint> =>
  (await ledger.account(projectId, to)).postedBase;

let restart = (): Promise<void> => Promise.resolve();
afterEach(() => restart());

test(
  "while a node is lost its projects are answered 503 with Retry-After, the others go on, and nothing is lost when it is back",
  async () => {
    const customers: Customer[] = [];
    while (
      new Set(customers.map(({ node }) => node)).size < 2 &&
      customers.length < CUSTOMERS_MAX
    )
      customers.push(await newCustomer());
    const [hit] = customers;
    const other = customers.find(({ node }) => node !== hit?.node);
    if (hit === undefined || other === undefined)
      throw new Error("All projects lie on one node.");
    for (const customer of [hit, other]) await move(customer, "before");

    const killed = await killNode(await urlOfNode(hit.node));
    restart = killed.restart;
    for (const path of PATHS) {
      const lost = await get(path, hit);
      expect([path, lost.status]).toEqual([path, 503]);
      expect(Number(lost.headers.get("retry-after"))).toBeGreaterThan(0);
      expect([path, (await get(path, other)).status]).toEqual([path, 200]);
    }
    await move(other, "meanwhile");
    const key = newId("transfer");
    const unknown = move(hit, key);
    await killed.restart();
    // The ledger repeats commands with unknown outcome under their key.
    await unknown;
    await move(hit, key);

    await vi.waitFor(async () => {
      for (const path of PATHS) expect((await get(path, hit)).status).toBe(200);
    }, BACK);
    expect(await Promise.all([hit, other].map(balanceOf))).toEqual([2n, 2n]);
  },
  TIMEOUT_MS,
);
