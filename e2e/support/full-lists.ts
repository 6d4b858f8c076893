import type { Page } from "@playwright/test";
import { privateKeyToAddress } from "viem/accounts";
import { numberToHex } from "viem";
import { putAnnotation } from "@/lib/contracts/annotations";
import { createApiKey } from "@/lib/contracts/api-keys";
import { createContact } from "@/lib/contracts/contacts";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { approvePayout, createWalletsPayout, getPayout } from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { labelWallet } from "@/lib/contracts/wallets";
import { isFinal } from "@/lib/core/status";
import { expect } from "@playwright/test";
import { projectOf, type TestProject } from "./project";
import { seedProject } from "./seed";

const CHAIN = 31337;
const PAID_TIMEOUT_MS = 60_000;
const LONG_NAME = "Vereinigte Buchhaltungsgesellschaft Nordrhein-Westfalen mbH & Co. KG";
const LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitänswitwe";

/** Addresses that no other test uses, and that are the same in each run. */
const PAYEES = Array.from({ length: 30 }, (_, index) =>
  privateKeyToAddress(numberToHex(index + 4_242, { size: 32 })),
);

/**
 * Adds approved contacts, some with the longest names, and one contact with tags that is not
 * approved.
 */
const seedContacts = async (project: TestProject): Promise<void> => {
  const names = [LONG_NAME, LONG_WORD, "Acme GmbH", "Bo"];
  for (const [index, name] of names.entries())
    await project.addApproved({ name, address: PAYEES[index] ?? "", chainIds: [CHAIN] });
  await project.api.call(createContact, {
    body: {
      name: `${LONG_NAME}, West`,
      address: PAYEES.at(-1) ?? "",
      tags: ["Contractors abroad", "Berlin", "Quarterly"],
    },
  });
};

/** Executes three transfers with memos, and a swap of USDC on two chains into WETH on a third. */
const seedMoves = async (project: TestProject): Promise<void> => {
  const { api, treasury } = project;
  const to = { fromChainId: CHAIN, toChainId: CHAIN, token: "USDC" };
  for (const [index, toAddress] of PAYEES.slice(0, 3).entries()) {
    const amount = ["1234.56", "0.75", "88"][index] ?? "1";
    const sent = await project.execute(
      await project.prepareTransfer({ ...to, amount, toAddress }),
    );
    await api.call(putAnnotation, {
      params: { id: sent },
      body: { memo: "Travel expenses of the third quarter, and the tickets", tags: ["Berlin"] },
    });
  }
  const from = [CHAIN, 31338].map((chainId) => ({
    address: treasury.address,
    chainId,
    token: "USDC",
    amount: "120",
  }));
  const toAddress = PAYEES[0] ?? "";
  const body = { from, toChainId: 31339, toToken: "WETH", toAddress, slippageBps: 50 };
  const { quoteId } = await api.call(createQuote, { body });
  await api.call(requestOtp, { body: { quoteId } });
  await api.call(prepareSwap, { body: { quoteId, otp: await project.code() } });
  await project.untilFinal((await api.call(executeSwap, { body: { quoteId } })).operationId);
};

/** Pays 30 wallets; the first of them are contacts. Another payout waits for its approval. */
const seedPaid = async ({
  api,
  code,
}: TestProject): Promise<{ readonly paid: string; readonly waits: string }> => {
  const transfers = PAYEES.map((address, index) => ({
    address,
    amount: index === 0 ? "1234.89" : `${String(index * 3 + 1)}.5`,
    token: "USDC",
    reference: `INV-2026-${String(1000 + index)}`,
    note: "For the work of May, with the travel expenses and the tickets",
  }));
  const reference = `Contractors of the ${LONG_NAME}, November and December`;
  const waits = await api.call(createWalletsPayout, {
    body: { chainId: CHAIN, transfers: transfers.slice(1, 4), reference },
  });
  const paid = await api.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers,
      reference: "November contractors",
      allowDuplicates: true,
    },
  });
  const id = String(paid.payoutId);
  await api.call(requestOtp, { body: { payoutId: id } });
  await api.call(approvePayout, { params: { id }, body: { otp: await code() } });
  await expect(async () => {
    const { status } = await api.call(getPayout, { params: { id } });
    expect(isFinal(status)).toBe(true);
  }).toPass({ timeout: PAID_TIMEOUT_MS });
  return { paid: id, waits: String(waits.payoutId) };
};

/**
 * Gives the treasury, new accounts and a new API key names that are nearly as long as the service
 * allows.
 */
const seedNames = async ({ api, treasury }: TestProject): Promise<void> => {
  await api.call(labelWallet, {
    params: { id: treasury.id },
    body: { label: "Treasury of the European subsidiary, operations" },
  });
  for (const name of [LONG_NAME, LONG_WORD, "Rent"])
    await api.call(createGlobalAccount, { body: { currency: "USDC", name } });
  await api.call(createApiKey, {
    body: {
      name: "Payroll backend of the European subsidiary, production",
      scopes: ["wallets:read", "balances:read", "payouts:write", "transfers:write"],
    },
  });
};

/**
 * Fills the project like `seedProject`, and adds long names, many rows, several tokens and large
 * amounts, so that every list has a row that needs the most room.
 * @returns the paths of all pages that show some of the data, and that of the payout of 30 rows
 */
export const seedFullLists = async (
  page: Page,
): Promise<{ readonly paths: readonly string[]; readonly payout: string }> => {
  const project = await projectOf(page);
  const paths = await seedProject(page, project);
  await project.give(CHAIN, "USDC", "5000");
  await project.give(31338, "USDC", "1500");
  await project.give(CHAIN, "WETH", "12.345678901");
  await project.give(31339, "USDT", "250");
  await seedContacts(project);
  await seedMoves(project);
  const { paid, waits } = await seedPaid(project);
  await seedNames(project);
  const payout = `/payouts/${paid}`;
  return {
    paths: [...paths, payout, `/payouts/${waits}`, `${payout}/receipt`],
    payout,
  };
};
