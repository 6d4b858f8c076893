import { expect, onTestFinished, test } from "vitest";
import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createChainRegistry } from "@/lib/chain/registry";
import { createServices } from "@/lib/composition";
import { createQuote, executeSwap } from "@/lib/contracts/swap";
import { systemClock } from "@/lib/core/clock";
import { toOperation } from "@/lib/money/operations/service";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareQuote, waitUntilFinal } from "@/lib/dev/testing/journey";
import { createSecondRouting } from "@/lib/dev/testing/second-routing";

const [ONE, TWO] = [31337, 31338];

const { chains } = await testDevnet();
const onchain = createOnchainRouting({
  registry: createChainRegistry(chains),
  clock: systemClock,
});
/** Offers one base unit more for sources on one chain, and refuses all others. */
const second = createSecondRouting({
  id: "second",
  inner: onchain,
  bonusBase: 1n,
  chainIds: [TWO],
});
const api = await testApi({ worker: true, overrides: { routing: [onchain, second] } });

test("one operation goes over two providers, and stays readable when one of them is not configured any more", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await Promise.all([
    fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "5" }),
    fund(client, customer.treasury, { chainId: TWO, token: "USDC", amount: "3" }),
  ]);
  const sourceOn = (chainId: number, amount: string) => ({
    address: customer.treasury,
    chainId,
    token: "USDC",
    amount,
  });
  const quote = await prepareQuote(api, customer, {
    from: [sourceOn(ONE, "5"), sourceOn(TWO, "3")],
    toChainId: TWO,
    toToken: "WETH",
    toAddress: testAccount().address,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  expect(operation.legs.map(({ provider, status }) => [provider, status])).toEqual([
    ["onchain", "completed"],
    ["second", "completed"],
  ]);

  const without = createServices(api.services.config, { routing: [onchain] });
  onTestFinished(() => without.close());
  const { projectId } = await api.services.database.prisma.operation.findUniqueOrThrow({
    where: { id: operationId },
  });
  const read = await without.operations.get(projectId, operationId);
  expect(toOperation(read, api.services.registry)).toEqual(operation);
});

test("the route that a caller chose is taken, though another one brings more, and again when it is priced to be prepared", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: TWO, token: "USDC", amount: "3" });
  const body = {
    from: [{ address: customer.treasury, chainId: TWO, token: "USDC", amount: "3" }],
    toChainId: TWO,
    toToken: "WETH",
    toAddress: testAccount().address,
  };
  const best = await client.call(createQuote, { body });
  const [other] = best.alternatives;
  if (other === undefined || other.routeId === null)
    throw new Error("The quote has no other route.");
  expect(other.routeId).not.toBe(best.routeId);

  const quote = await prepareQuote(api, customer, { ...body, routeId: other.routeId });
  expect(quote.routeId).toBe(other.routeId);
  expect(quote.alternatives.map(({ routeId }) => routeId)).toContain(best.routeId);
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation.status).toBe("completed");
  expect(operation.legs.map(({ provider }) => provider)).toEqual(["onchain"]);

  const gone = client.call(createQuote, {
    body: { ...body, routeId: "rt_000000000000000000000000" },
  });
  await expect(gone).rejects.toMatchObject({ status: 400, code: "no_route" });
});
