import { expect, test } from "vitest";
import { evaluatePolicies, getPolicies } from "@/lib/contracts/policies";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareTransfer, waitUntilFinal } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
const api = await testApi({ worker: true });

test("in a fresh project anybody may sign up, and pays any address at once with a code, however large the amount", async () => {
  // Nobody invited this wallet.
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const { prisma } = api.services.database;
  expect((await client.call(getPolicies, {})).policies).toEqual([]);
  expect(await prisma.screeningListEntry.count()).toBe(0);

  // No allow-list, no cool-down for an address that nobody has seen, no cap, nothing that is
  // screened out.
  const toAddress = testAccount().address;
  const asked = {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    token: "USDC",
    amount: "250000",
  };
  expect(await client.call(evaluatePolicies, { body: { ...asked, toAddress } })).toMatchObject({
    decision: "allow",
    approval: null,
    rules: [],
  });
  await fund(client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: asked.amount,
  });
  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    amount: asked.amount,
    toAddress,
  });
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  expect((await waitUntilFinal(client, operationId)).status).toBe("completed");
});
