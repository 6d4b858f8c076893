/** Screening by the oracle of the local chains, configured as `npm start` does. */
import { createTestClient, encodeFunctionData, http, parseAbi, type Address } from "viem";
import { expect, test } from "vitest";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { LOCAL_SANCTIONS_LIST } from "@/lib/dev/devnet/sanctions-list";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { refusalOf } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const devnet = await testDevnet();
const api = await testApi({
  variables: { [`SANCTIONS_ORACLE_${String(CHAIN)}`]: LOCAL_SANCTIONS_LIST },
});
const anvil = createTestClient({
  mode: "anvil",
  transport: http(devnet.rpcUrls[String(CHAIN)]),
});
const abi = parseAbi([
  "function addToSanctionsList(address[] addrs)",
  "function removeFromSanctionsList(address[] addrs)",
]);

const change = async (
  functionName: "addToSanctionsList" | "removeFromSanctionsList",
  one: Address,
): Promise<void> => {
  const from = devAddress("deployer");
  const data = encodeFunctionData({ abi, functionName, args: [[one]] });
  await anvil.impersonateAccount({ address: from });
  await anvil.request({
    method: "eth_sendTransaction" as never,
    params: [{ from, to: LOCAL_SANCTIONS_LIST, data }] as never,
  });
  await anvil.mine({ blocks: 1 });
};

test("the oracle of the local chains clears everybody, until its owner lists an address", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "100",
  });
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  });
  const [cleared, listed] = [testAccount().address, testAccount().address];
  const from = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, fromToken: "USDC" };
  const send = (recipient: Address) =>
    client.call(swapAndTransfer, {
      body: { ...from, toChainId: CHAIN, toToken: "USDC", amount: "1", recipient },
    });
  const { operationId } = await send(cleared);
  const { screeningRecord } = api.services.database.prisma;
  const kept = await screeningRecord.findFirstOrThrow({ where: { subjectId: operationId } });
  const source = `oracle:${String(CHAIN)}`;
  expect(kept.sources).toMatchObject([{ state: "clear", source }]);
  await change("addToSanctionsList", listed);
  const refusal = await refusalOf(send(listed));
  expect(refusal).toMatchObject({ status: 403, code: "screening_refused" });
  expect(refusal.message).toContain(listed);
  await change("removeFromSanctionsList", listed);
});
