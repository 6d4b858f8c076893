import { afterAll, expect, test } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { getOperation } from "@/lib/contracts/operations";
import { startJobRunner } from "@/lib/platform/jobs/service";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareQuote, waitUntilFinal } from "@/lib/dev/testing/journey";
import {
  executeOwn,
  oneSource,
  plainWallet,
  prepareOwn,
  signedTransaction,
} from "@/lib/dev/testing/own-wallets";

const ONE = 31337;
const SLOTS = 2;

const api = await testApi();
const devnet = await testDevnet();
const runner = startJobRunner({
  repository: api.services.jobs,
  handlers: { operation: (id, signal) => api.services.operationDriver.drive(id, signal) },
  workerId: "few slots",
  listener: api.services.listener,
  log: api.services.errorLog,
  options: { concurrency: SLOTS },
});
afterAll(() => runner.stop());

test("operations that wait for transactions which nobody sends do not keep another one from its turn", async () => {
  const stranger = await newCustomer(api);
  const wallet = await plainWallet(devnet, stranger);
  const waiting: string[] = [];
  for (const amount of ["0.1", "0.2", "0.3"]) {
    const body = oneSource(wallet.address, [ONE, "native", amount], [ONE, "native"]);
    const { quote, prepared } = await prepareOwn(api, stranger, body);
    const [action] = prepared.actions;
    if (action === undefined) throw new Error("A transaction has to be sent.");
    const { hash } = await signedTransaction(api, wallet, action);
    const executed = await executeOwn(stranger, quote.quoteId, [
      { actionId: action.id, txHash: hash },
    ]);
    waiting.push(executed.operationId);
  }
  expect(waiting.length).toBeGreaterThan(SLOTS);

  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "5" });
  const quote = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "5" }],
    toChainId: ONE,
    toToken: "USDC",
    toAddress: testAccount().address,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  expect(await waitUntilFinal(client, operationId, 20_000)).toMatchObject({
    status: "completed",
  });
  // Waiting operations are not given up, and workers still look at them.
  for (const id of waiting) {
    const still = await stranger.session.client.call(getOperation, { params: { id } });
    expect(still.status).toBe("processing");
  }
});
