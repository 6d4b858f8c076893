import { expect, test } from "vitest";
import { createTransfer } from "@/lib/contracts/transfers";
import { prepareSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { standInRollup } from "@/lib/dev/testing/rollup";

const GWEI = 10n ** 9n;
const devnet = await ownDevnet();
const [one] = devnet.chains;
if (!one) throw new Error("There are three chains.");
const api = await testApi({
  devnet: false,
  worker: true,
  variables: {
    DEVNET: "1",
    ...Object.fromEntries(
      devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl]),
    ),
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id === one.chainId) chain.rollup = "op-stack";
    }),
  },
});
await devnet.serve(api.services.config);
const fees = await standInRollup(one.rpcUrl, "op-stack");

test("a sponsor's budget counts the fee for data on the parent chain, which no ceiling of gas refuses", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: one.chainId,
    token: "USDC",
    amount: "10",
  });
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  });
  const { projectId } = await api.services.database.prisma.wallet.findFirstOrThrow({
    where: { address: customer.treasury },
  });
  const at = { projectId, chainId: one.chainId };
  const prepare = async (): Promise<unknown> => {
    const body = {
      fromWalletId: customer.treasuryId,
      fromChainId: one.chainId,
      toChainId: one.chainId,
      token: "USDC",
    };
    const toAddress = testAccount().address;
    const { transferId } = await client.call(createTransfer, {
      body: { ...body, amount: "1", toAddress },
    });
    return client.call(prepareSwap, { body: { transferId } });
  };
  // Without the data fee a transfer costs less than a tenth of this budget: 0.75 million gas at 2
  // to 4 gwei.
  await api.services.sponsorship.setBudget(at, {
    dailyWei: null,
    operationWei: 50_000_000n * GWEI,
  });
  await fees.setPerByte(0n);
  await expect(prepare()).resolves.toBeDefined();
  // A transfer has more than 1,000 bytes, so it costs at least 0.06 coins.
  await fees.setPerByte(60_000n * GWEI);
  await expect(prepare()).rejects.toMatchObject({
    status: 422,
    code: "sponsor_budget_exceeded",
  });
  // Converted to gas, the fee is far above the ceiling of 1.5 million, so only the budget limits
  // it.
  await api.services.sponsorship.setBudget(at, { dailyWei: null, operationWei: null });
  await expect(prepare()).resolves.toBeDefined();
});
