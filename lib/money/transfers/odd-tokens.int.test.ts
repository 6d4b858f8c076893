import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseUnits, type Address } from "viem";
import { expect, test } from "vitest";
import { chainsFile } from "@/lib/platform/config/chains";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, getTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  codesOf,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import {
  deployOddToken,
  deployTronUsdt,
  ODD_MODE,
  type OddToken,
} from "@/lib/dev/testing/odd-tokens";
import { afterFile } from "@/lib/dev/testing/after-file";

const ONE = 31337;
const devnet = await testDevnet();
const rpcUrl = devnet.rpcUrls[ONE] ?? "";
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const at = { rpcUrl, deployer };
const tokens: Record<string, OddToken> = {
  FEE: await deployOddToken(at, ODD_MODE.keepsTwoPercent),
  LIAR: await deployOddToken(at, ODD_MODE.honest),
  VOID: await deployOddToken(at, ODD_MODE.returnsNothing),
  TRON: await deployTronUsdt(at),
};

/** A chain file of the local chains that lists these tokens. */
const chainsWithTokens = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const { chains } = chainsFile.parse(
    JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")),
  );
  for (const [symbol, { address }] of Object.entries(tokens)) {
    const token = {
      symbol,
      name: symbol,
      address,
      decimals: 6,
      assetId: symbol.toLowerCase(),
      usdPegged: false,
    };
    chains.find(({ id }) => id === ONE)?.tokens.push(token);
  }
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }));
  return file;
};

const api = await testApi({ worker: true, variables: { CHAINS_FILE: chainsWithTokens() } });

const tokenOf = (symbol: string): OddToken => {
  const token = tokens[symbol];
  if (token === undefined) throw new Error(`${symbol} is not deployed.`);
  return token;
};
const balanceOf = (symbol: string, owner: Address): Promise<bigint> =>
  balanceOnChain(rpcUrl, tokenOf(symbol).address, owner);

const holder = async (symbol: string) => {
  const customer = await newCustomer(api);
  await tokenOf(symbol).mint(customer.treasury, parseUnits("100", 6));
  return customer;
};

const bodyOf = (customer: { treasuryId: string }, token: string, toAddress: Address) => ({
  fromWalletId: customer.treasuryId,
  toAddress,
  fromChainId: ONE,
  toChainId: ONE,
  token,
  amount: "50",
});

test.each(["VOID", "TRON"])(
  "%s: what a token's transfer returns does not count, what it moves does",
  async (symbol) => {
    const customer = await holder(symbol);
    const { client } = customer.session;
    const recipient = testAccount().address;
    const { transferId } = await prepareTransfer(
      api,
      customer,
      bodyOf(customer, symbol, recipient),
    );
    const { operationId } = await client.call(executeSwap, { body: { transferId } });
    expect((await waitUntilFinal(client, operationId)).status).toBe("completed");
    const transfer = await client.call(getTransfer, { params: { id: transferId } });
    expect(transfer).toMatchObject({ status: "completed", received: { amount: "50" } });
    expect(transfer.warnings).toMatchObject([{ code: "first_payment" }]);
    expect(await balanceOf(symbol, recipient)).toBe(parseUnits("50", 6));
  },
);

test("a token that keeps a part of every transfer: the transfer warns of it, approves the rest, and records what arrived", async () => {
  const customer = await holder("FEE");
  const { client } = customer.session;
  const recipient = testAccount().address;
  const transfer = await prepareTransfer(api, customer, bodyOf(customer, "FEE", recipient));
  expect(transfer).toMatchObject({
    sent: { amount: "50" },
    expected: { amount: "49" },
    minimum: { amount: "49" },
  });
  expect(transfer.warnings.map(({ code }) => code)).toEqual([
    "first_payment",
    "fee_on_transfer",
  ]);
  const mails = await api.services.inbox?.list({ to: customer.email, limit: 1 });
  expect(mails?.[0]?.text).toContain("Minimum received: 49 FEE");
  const { operationId } = await client.call(executeSwap, {
    body: { transferId: transfer.transferId },
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({
    status: "completed",
    actual: { received: { amount: "49" } },
  });
  expect(await balanceOf("FEE", recipient)).toBe(parseUnits("49", 6));
  expect(await balanceOf("FEE", customer.treasury)).toBe(parseUnits("50", 6));
});

test("a fee that a token begins to take after the approval is asked about again, with a transfer at the new minimum", async () => {
  const customer = await holder("LIAR");
  const { client } = customer.session;
  await tokenOf("LIAR").setMode(ODD_MODE.honest);
  const seen = await codesOf(api, customer);
  const { transferId } = await client.call(createTransfer, {
    body: bodyOf(customer, "LIAR", testAccount().address),
  });
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(customer.email, seen);
  await tokenOf("LIAR").setMode(ODD_MODE.keepsTwoPercent);
  const refused = await client
    .call(prepareSwap, { body: { transferId, otp } })
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 409, code: "quote_price_moved" });
  const { data } = await api.services.transfers.list(await projectOf(customer), { limit: 1 });
  expect(data[0]?.quote.transferId).not.toBe(transferId);
  expect(data[0]?.quote.minimumBase).toBe(parseUnits("49", 6));
});

test("a token that returns false and moves nothing is refused when it is prepared", async () => {
  const customer = await holder("LIAR");
  await tokenOf("LIAR").setMode(ODD_MODE.movesNothing);
  const refused = prepareTransfer(
    api,
    customer,
    bodyOf(customer, "LIAR", testAccount().address),
  );
  await expect(refused).rejects.toMatchObject({ status: 422, code: "simulation_failed" });
});

test("a token that turns so after it was prepared: the operation fails, and the money is where it was", async () => {
  const customer = await holder("LIAR");
  const { client } = customer.session;
  await tokenOf("LIAR").setMode(ODD_MODE.honest);
  const recipient = testAccount().address;
  const { transferId } = await prepareTransfer(
    api,
    customer,
    bodyOf(customer, "LIAR", recipient),
  );
  await tokenOf("LIAR").setMode(ODD_MODE.movesNothing);
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "nothing_moved", retryable: false },
  });
  expect(operation.outcome.holds).toEqual([
    expect.objectContaining({ wallet: customer.treasury, amount: "50" }),
  ]);
  const transfer = await client.call(getTransfer, { params: { id: transferId } });
  expect(transfer).toMatchObject({
    status: "failed",
    received: null,
    failure: { code: "nothing_moved" },
  });
  expect(await balanceOf("LIAR", customer.treasury)).toBe(parseUnits("100", 6));
  expect(await balanceOf("LIAR", recipient)).toBe(0n);
});

const projectOf = async ({ treasuryId }: { treasuryId: string }): Promise<string> => {
  const wallet = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: treasuryId },
  });
  return wallet.projectId;
};
