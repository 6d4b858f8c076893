import { parseUnits } from "viem";
import { expect, test } from "vitest";
import { prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployLookAlike } from "@/lib/dev/testing/freezable";
import { codesOf, newCustomer } from "@/lib/dev/testing/journey";

const ONE = 31337;
const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const at = { rpcUrl: devnet.rpcUrls[ONE] ?? "", deployer };
const tokens = {
  FUSDC: await deployLookAlike(at, "CircleLike"),
  FUSDT: await deployLookAlike(at, "TetherLike"),
};
const CHAINS_FILE = changedChainsFile((chain) => {
  if (chain.id !== ONE) return;
  for (const [symbol, { address }] of Object.entries(tokens)) {
    const assetId = symbol.toLowerCase();
    chain.tokens.push({ symbol, name: symbol, address, decimals: 6, assetId, usdPegged: true });
  }
});
const api = await testApi({ variables: { CHAINS_FILE } });

/** A transfer that was quoted and approved, but not prepared. */
const approvedTransfer = async (symbol: keyof typeof tokens) => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await tokens[symbol].mint(customer.treasury, parseUnits("100", 6));
  const recipient = testAccount().address;
  const { treasuryId: fromWalletId } = customer;
  const seen = await codesOf(api, customer);
  const where = { fromWalletId, fromChainId: ONE, toChainId: ONE, token: symbol };
  const { transferId } = await client.call(createTransfer, {
    body: { ...where, toAddress: recipient, amount: "5" },
  });
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(customer.email, seen);
  return {
    recipient,
    treasury: customer.treasury,
    prepare: () => client.call(prepareSwap, { body: { transferId, otp } }),
  };
};

test.each(["FUSDC", "FUSDT"] as const)(
  "%s: prepare says that the recipient, or the wallet, is frozen, and prepares once it is not",
  async (symbol) => {
    const { recipient, treasury, prepare } = await approvedTransfer(symbol);
    const token = tokens[symbol];
    await token.add(recipient);
    await expect(prepare()).rejects.toMatchObject({
      status: 422,
      code: "recipient_frozen",
      body: { details: [{ path: "toAddress" }] },
    });
    await token.remove(recipient);
    await token.add(treasury);
    await expect(prepare()).rejects.toMatchObject({ status: 422, code: "wallet_frozen" });
    await token.remove(treasury);
    expect((await prepare()).prepared).toBe(true);
  },
);
