/** JSON columns of payouts to wallets, and how they are read back. */
import { z } from "zod";
import { payoutWarning, walletsPayoutRecord } from "@/lib/contracts/payout-records";
import { storedBase, storedToken } from "@/lib/ports/routing-json";

/** Column `totals`. */
export const storedTotals = z.array(z.object({ token: storedToken, amountBase: storedBase, rows: z.int() }));

/** Column `warnings`. */
export const storedWarnings = z.array(payoutWarning);
export type PayoutWarning = z.output<typeof payoutWarning>;

export const WARNINGS_MAX = 100;

/** Column `fund_from`: the service chooses, or these wallets, chains and tokens. */
export const storedFundFrom = z.union([
  z.literal("auto"),
  z.array(z.object({ walletId: z.string().optional(), chainId: z.int(), token: z.string() })),
]);
export type FundFrom = z.output<typeof storedFundFrom>;

/** Column `request` of a schedule: what each run is made from. */
export const storedScheduleRequest = z.object({
  chainId: z.int(),
  transfers: z.array(
    z.object({
      address: z.string(),
      amount: z.string(),
      token: z.string(),
      reference: z.string().optional(),
      note: z.string().optional(),
    }),
  ),
  reference: z.string().optional(),
  fundFrom: storedFundFrom.optional(),
});

/** Column `funding`. Amounts in base units. */
export const storedFunding = z.object({
  quoteId: z.string(),
  token: storedToken,
  missingBase: storedBase,
  minimumBase: storedBase,
  sources: z.array(z.object({ walletId: z.string(), token: storedToken, amountBase: storedBase })),
  fees: walletsPayoutRecord.shape.funding.unwrap().shape.fees,
  estimatedSeconds: z.int(),
});
export type Funding = z.output<typeof storedFunding>;

/** A token of a payout by the name that its rows have for it. */
export const tokenNamed = (totals: unknown, name: string): z.output<typeof storedToken> => {
  const found = storedTotals.parse(totals).find(({ token }) => token.address.toLowerCase() === name);
  if (found === undefined) throw new Error(`The payout has no total of ${name}.`);
  return found.token;
};
