/** Payouts to wallets whose recipients, or whose treasury, the token's issuer has frozen. */
import { parseUnits } from "viem";
import { expect, test, vi } from "vitest";
import { createWalletsPayout, getPayout, listPayoutItems } from "@/lib/contracts/payouts";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployLookAlike } from "@/lib/dev/testing/freezable";
import { balanceOnChain, newCustomer } from "@/lib/dev/testing/journey";
import { refusalOf } from "@/lib/dev/testing/voters";
import { startWorker } from "@/lib/workers/runner";

const ONE = 31337;
const SYMBOL = "FUSDC";
const WAIT = { timeout: 60_000, interval: 200 };
const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const rpcUrl = devnet.rpcUrls[ONE] ?? "";
const token = await deployLookAlike({ rpcUrl, deployer }, "CircleLike");
const CHAINS_FILE = changedChainsFile((chain) => {
  if (chain.id !== ONE) return;
  const names = { symbol: SYMBOL, name: SYMBOL, assetId: SYMBOL.toLowerCase() };
  chain.tokens.push({ ...names, address: token.address, decimals: 6, usdPegged: true });
});
const api = await testApi({ variables: { CHAINS_FILE } });

const payer = async () => {
  const customer = await newCustomer(api);
  await token.mint(customer.treasury, parseUnits("100", 6));
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  });
  const pay = (addresses: readonly string[], validateOnly = false) => {
    const transfers = addresses.map((address) => ({ address, amount: "5", token: SYMBOL }));
    return client.call(createWalletsPayout, {
      body: { chainId: ONE, transfers, validateOnly },
    });
  };
  return { treasury: customer.treasury, client, pay };
};

test("a payout that pays a frozen address, or from a frozen treasury, is refused before anything is stored, and names the row", async () => {
  const { treasury, pay } = await payer();
  const [good, frozen] = [testAccount().address, testAccount().address];
  await token.add(frozen);
  for (const validateOnly of [true, false]) {
    const refusal = await refusalOf(pay([good, frozen], validateOnly));
    expect(refusal).toMatchObject({ status: 422, code: "recipient_frozen" });
    const { details } = refusal.body as { details: { path: string; message: string }[] };
    expect(details).toMatchObject([{ path: "transfers.1.address" }]);
    expect(details[0]?.message).toContain(frozen);
  }
  await token.remove(frozen);
  await token.add(treasury);
  expect(await refusalOf(pay([good]))).toMatchObject({ status: 422, code: "wallet_frozen" });
  expect(await api.services.database.prisma.payout.count()).toBe(0);
});

test("a recipient that is frozen after the payout was accepted is left out before signing, and the others are paid", async () => {
  const { client, pay } = await payer();
  const [good, frozen] = [testAccount().address, testAccount().address];
  const { payoutId } = await pay([good, frozen]);
  await token.add(frozen);
  const worker = startWorker(api.services);
  try {
    const params = { id: payoutId ?? "" };
    await vi.waitFor(async () => {
      expect(await client.call(getPayout, { params })).toMatchObject({
        status: "partially_completed",
      });
    }, WAIT);
    const { data } = await client.call(listPayoutItems, { params, query: {} });
    expect(data.map(({ status, failure }) => [status, failure?.code ?? null])).toEqual([
      ["paid", null],
      ["failed", "recipient_frozen"],
    ]);
    expect(data[1]?.failure?.message).toContain(frozen);
  } finally {
    await worker.stop();
  }
  expect(await balanceOnChain(rpcUrl, token.address, good)).toBe(5_000_000n);
  expect(await balanceOnChain(rpcUrl, token.address, frozen)).toBe(0n);
}, 120_000);
