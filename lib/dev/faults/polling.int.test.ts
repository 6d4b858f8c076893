import { afterAll, expect, test } from "vitest";
import { createServices } from "@/lib/composition";
import { executeSwap } from "@/lib/contracts/swap";
import { startWorker } from "@/lib/workers/runner";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareQuote,
  prepareTransfer,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";

const [ONE, TWO] = [31337, 31338];

// One instance answers requests and another runs jobs, and neither listens, so they learn of each
// other only from the rows.
const api = await testApi({ variables: { DATABASE_DIRECT_URL: "none" } });
const other = createServices(api.services.config);
const worker = startWorker(other);
afterAll(async () => {
  await worker.stop();
  await other.close();
});

/** The names of all events of an operation's stream, which ends when the operation is final. */
const streamedBy = async (accessToken: string, operationId: string): Promise<string[]> => {
  const headers = { authorization: `Bearer ${accessToken}` };
  const response = await api.fetch(`/operations/${operationId}/events`, { headers });
  return [...(await response.text()).matchAll(/^event: (.+)$/gm)].map(([, name = ""]) => name);
};

test("without LISTEN a transfer and a swap over two chains are completed, and a stream tells all of it", async () => {
  const customer = await newCustomer(api);
  const { client, accessToken } = customer.session;
  const { treasury, treasuryId } = customer;
  await fund(client, treasury, { chainId: ONE, token: "USDC", amount: "100" });

  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: treasuryId,
    toAddress: testAccount().address,
    fromChainId: ONE,
    toChainId: ONE,
    token: "USDC",
    amount: "10",
  });
  const transfer = await client.call(executeSwap, { body: { transferId } });
  const events = await streamedBy(accessToken, transfer.operationId);
  expect(events).toContain("operation.processing");
  expect(events).toContain("operation.completed");

  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: treasury, chainId: ONE, token: "USDC", amount: "20" }],
    toChainId: TWO,
    toToken: "WETH",
    toAddress: testAccount().address,
  });
  const swap = await client.call(executeSwap, { body: { quoteId } });
  expect(await waitUntilFinal(client, swap.operationId)).toMatchObject({
    status: "completed",
    subStatus: "full",
  });

  const { rows } = await other.database.pool.query(
    `SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify(told%') AND pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([]);
}, 120_000);
