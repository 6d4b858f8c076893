import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { transactionGasAlone } from "@/lib/chain/erc4337/user-operation";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { storedGas } from "@/lib/chain/erc4337/stored";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployGasBurner } from "@/lib/dev/testing/gas-burner";
import {
  codesOf,
  fund,
  newCustomer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import {
  linkedWallet,
  ownSmartAccount,
  plainWallet,
  prepareOwn,
} from "@/lib/dev/testing/own-wallets";

const [SPONSORED, UNSPONSORED] = [31337, 31339];
const ONE_WEI = "0.000000000000000001";

const api = await testApi({
  worker: true,
  variables: {
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id === UNSPONSORED) delete chain.contracts.paymaster;
    }),
  },
});
const devnet = await testDevnet();
const { prisma } = api.services.database;
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");

const burnerOf = (chainId: number, gas: bigint): Promise<Address> =>
  deployGasBurner({ rpcUrl: devnet.rpcUrls[String(chainId)] ?? "", deployer }, gas);

const funded = async (chainId: number): Promise<Customer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId,
    token: "native",
    amount: "5",
  });
  return customer;
};

const prepareTo = async (customer: Customer, chainId: number, toAddress: Address) => {
  const { client } = customer.session;
  const seen = await codesOf(api, customer);
  const body = {
    fromWalletId: customer.treasuryId,
    fromChainId: chainId,
    toChainId: chainId,
    token: "native",
  };
  const { transferId } = await client.call(createTransfer, {
    body: { ...body, toAddress, amount: ONE_WEI },
  });
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(customer.email, seen);
  return { transferId, prepare: () => client.call(prepareSwap, { body: { transferId, otp } }) };
};

const operationsOf = ({ treasury }: Customer): Promise<number> =>
  prisma.operation.count({ where: { project: { wallets: { some: { address: treasury } } } } });

const refusalOf = (work: Promise<unknown>): Promise<Record<string, unknown>> =>
  work.then(
    () => ({ code: "ok" }),
    (error: unknown) => error as Record<string, unknown>,
  );

describe("a transfer of one wei to a contract that burns gas", () => {
  test.each([8_400_000n, 14_000_000n])(
    "is refused when it is prepared, with the gas and the ceiling: %s",
    async (gas) => {
      const [customer, burner] = [await funded(SPONSORED), await burnerOf(SPONSORED, gas)];
      const { prepare } = await prepareTo(customer, SPONSORED, burner);
      const refused = await refusalOf(prepare());
      expect(refused).toMatchObject({ status: 422, code: "sponsor_budget_exceeded" });
      const [, used = "", ceiling] =
        /may use ([\d,]+) gas .* pays for ([\d,]+) gas at most/.exec(
          String(refused.message),
        ) ?? [String(refused.message)];
      expect(BigInt(used.replaceAll(",", ""))).toBeGreaterThan(gas);
      expect(ceiling).toBe("1,500,000");
      expect(await operationsOf(customer)).toBe(0);
    },
  );

  test("is refused when an exempt key sends it in one call, and nothing is stored", async () => {
    const [customer, burner] = [await funded(SPONSORED), await burnerOf(SPONSORED, 8_400_000n)];
    const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100" });
    const body = {
      fromWalletId: customer.treasuryId,
      fromChainId: SPONSORED,
      toChainId: SPONSORED,
      fromToken: "native",
      toToken: "native",
      amount: ONE_WEI,
      recipient: burner,
    };
    await expect(key.client.call(swapAndTransfer, { body })).rejects.toMatchObject({
      status: 422,
      code: "sponsor_budget_exceeded",
    });
    expect(await operationsOf(customer)).toBe(0);
  });

  test("is refused from a smart account whose owner signs, and no signature is requested", async () => {
    const customer = await newCustomer(api);
    const owner = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, owner.address, SPONSORED);
    await fund(customer.session.client, account, {
      chainId: SPONSORED,
      token: "native",
      amount: "1",
    });
    const burner = await burnerOf(SPONSORED, 8_400_000n);
    const from = [{ address: account, chainId: SPONSORED, token: "native", amount: ONE_WEI }];
    const body = { from, toChainId: SPONSORED, toToken: "native", toAddress: burner };
    await expect(prepareOwn(api, customer, body)).rejects.toMatchObject({
      code: "sponsor_budget_exceeded",
    });
  });

  test("is accepted when the account pays for itself, up to the gas limit of a transaction", async () => {
    const customer = await funded(UNSPONSORED);
    const { client } = customer.session;
    const dear = await prepareTo(
      customer,
      UNSPONSORED,
      await burnerOf(UNSPONSORED, 8_400_000n),
    );
    const prepared = await dear.prepare();
    expect(prepared.networkFees).toEqual([
      { walletAddress: customer.treasury, chainId: UNSPONSORED, paidBy: "wallet" },
    ]);
    const { operationId } = await client.call(executeSwap, {
      body: { transferId: dear.transferId },
    });
    expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
    expect(await prisma.sponsorUsage.count({ where: { chainId: UNSPONSORED } })).toBe(0);
    const impossible = await prepareTo(
      customer,
      UNSPONSORED,
      await burnerOf(UNSPONSORED, 14_000_000n),
    );
    await expect(impossible.prepare()).rejects.toMatchObject({
      status: 422,
      code: "simulation_failed",
    });
  });

  test("is accepted from a plain wallet, which pays for its own transaction", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    const burner = await burnerOf(SPONSORED, 8_400_000n);
    const from = [
      { address: wallet.address, chainId: SPONSORED, token: "native", amount: ONE_WEI },
    ];
    const body = { from, toChainId: SPONSORED, toToken: "native", toAddress: burner };
    const { prepared } = await prepareOwn(api, customer, body);
    expect(prepared.networkFees.map(({ paidBy }) => paidBy)).toEqual(["wallet"]);
    expect(BigInt(prepared.actions[0]?.transaction?.gas ?? "0")).toBeGreaterThan(8_400_000n);
  });
});

describe("the ceilings", () => {
  test.each([
    {
      what: "a transfer",
      toChainId: SPONSORED,
      toToken: "USDT",
      token: "USDT",
      ceiling: 1_500_000n,
    },
    {
      what: "a swap",
      toChainId: SPONSORED,
      toToken: "DAI",
      token: "USDT",
      ceiling: 4_000_000n,
    },
    {
      what: "a swap before a bridge",
      toChainId: 31338,
      toToken: "USDC",
      token: "WETH",
      ceiling: 5_000_000n,
    },
  ])(
    "leave half as much again for $what that deploys its account",
    async ({ toChainId, toToken, token, ceiling }) => {
      const customer = await newCustomer(api);
      await fund(customer.session.client, customer.treasury, {
        chainId: SPONSORED,
        token,
        amount: "1",
      });
      const from = [{ address: customer.treasury, chainId: SPONSORED, token, amount: "0.5" }];
      const body = { from, toChainId, toToken, toAddress: testAccount().address };
      const { quote, prepared } = await prepareOwn(api, customer, body);
      expect(quote.from.map(({ networkFeePaidBy }) => networkFeePaidBy)).toEqual(["sponsor"]);
      expect(prepared.networkFees.map(({ paidBy }) => paidBy)).toEqual(["sponsor"]);
      const stored = await prisma.quote.findUniqueOrThrow({ where: { id: quote.quoteId } });
      const [leg] = z
        .object({ legs: z.array(z.object({ gas: storedGas })) })
        .parse(stored.prepared).legs;
      if (leg === undefined) throw new Error("It has a leg.");
      const gas = transactionGasAlone(leg.gas, { isSponsored: true });
      expect((gas * 3n) / 2n).toBeLessThan(ceiling);
      expect(leg.gas.verificationGasLimit).toBeGreaterThan(400_000n);
    },
  );
});
