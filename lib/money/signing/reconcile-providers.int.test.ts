/** Compares the database with a chain of which one provider shows less than the other. */
import { zeroHash } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import { startWorker } from "@/lib/workers/runner";

const CHAIN_ID = 31337;
const { rpcUrls } = await testDevnet();
const url = rpcUrls[String(CHAIN_ID)] ?? "";
const providers = await Promise.all([startFaultProxy(url), startFaultProxy(url)]);
const RPC_URL = providers.map((provider) => provider.url).join(",");
const api = await testApi({ variables: { [`RPC_URL_${String(CHAIN_ID)}`]: RPC_URL } });
afterAll(() => Promise.all(providers.map((provider) => provider.close())));
const { services } = api;
const { prisma } = services.database;

/** A node without the logs of that time. */
const WITHOUT_LOGS = {
  methods: ["eth_getLogs"],
  fault: { kind: "lag", blocks: 1_000_000 },
} as const;

test.each([0, 1])(
  "a lost move that provider %i does not show is unknown all the same",
  async (position) => {
    const customer = await fundedCustomer(api);
    const worker = startWorker(services, { searchesDeposits: false });
    const { operationId } = await sendUsdc(customer, "3");
    await waitUntilFinal(customer.client, operationId);
    await worker.stop();
    const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
    // Simulates that the database has lost the paying operation.
    const lost = `${zeroHash.slice(0, -1)}${String(position)}`;
    await prisma.operationLeg.update({ where: { id: leg.id }, data: { userOpHash: lost } });
    await services.signing.require();
    await services.database.pool.query(
      "UPDATE signing_state SET off_since = now() - interval '10 min', off_reason = 'a test', seen_at = now() - interval '1 min'",
    );
    const fault = providers[position]?.on(WITHOUT_LOGS);
    try {
      const report = await services.reconciliation.reconcile({
        by: "operator:test",
        reason: "drill",
        accept: [],
      });
      expect(report.unknown.map(({ hash }) => hash)).toContain(leg.userOpHash);
      expect(report.isAllowed).toBe(false);
      expect(fault?.hits).toBeGreaterThan(0);
    } finally {
      fault?.off();
      await services.database.pool.query(
        "UPDATE signing_state SET off_since = NULL, off_reason = NULL",
      );
      await vi.waitFor(
        async () => expect((await services.signing.state()).isAllowed).toBe(true),
        {
          timeout: 10_000,
        },
      );
    }
  },
  120_000,
);
