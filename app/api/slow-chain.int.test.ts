/** Requests while a chain's node is slow: they end in time, and what they refuse was not begun. */
import { expect, test } from "vitest";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { countOperations, fund, newCustomer } from "@/lib/dev/testing/journey";
import { sharedDevnet } from "@/lib/dev/testing/hub";
import { afterFile } from "@/lib/dev/testing/after-file";

const CHAIN = 31337;

const { rpcUrls } = await sharedDevnet();
const proxy = await startFaultProxy(rpcUrls[CHAIN] ?? "");
afterFile(() => proxy.close());
const api = await testApi({
  variables: { [`RPC_URL_${String(CHAIN)}`]: proxy.url, REQUEST_SECONDS_MAX: "6" },
});

test("a transfer over a slow node ends with 503 and is not accepted; the same request passes later", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "20" });
  const body = {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    fromToken: "USDC",
    toToken: "DAI",
    amount: "5",
    recipient: testAccount().address,
  };
  const idempotencyKey = "one-transfer";
  const before = await countOperations(api, customer);
  // Each call is answered, but the calls of the request together take too long.
  const slow = proxy.on({ fault: { kind: "delay", ms: 2_500 } });
  await expect(client.call(swapAndTransfer, { body, idempotencyKey })).rejects.toMatchObject({
    status: 503,
    code: "chain_unavailable",
  });
  expect(slow.hits).toBeGreaterThan(0);
  expect(await countOperations(api, customer)).toBe(before);
  slow.off();
  const accepted = await client.call(swapAndTransfer, { body, idempotencyKey });
  expect(accepted.operationId).toMatch(/^op_/);
  expect(await countOperations(api, customer)).toBe(before + 1);
});
