import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createAccountsPayout,
  createWalletsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
} from "@/lib/contracts/payouts";
import { ACCOUNTS_CSV_HEAD, accountsCsvLine, toAccountsItem, toAccountsPayout } from "./accounts/serializer";
import type { AccountsPayoutView, PayoutItems, PayoutView, WalletsPayoutView } from "./read-payouts";
import { toWalletsPayout, walletItems, WALLETS_CSV_HEAD, walletsCsvLines } from "./wallets/serializer";

export { toSchedule, toScheduleItems, toSchedules } from "./schedules/serializer";

export const toPayout = (view: PayoutView): ResponseOf<typeof getPayout> =>
  view.kind === "wallets" ? toWalletsPayout(view) : toAccountsPayout(view);

const idOf = ({ payout }: PayoutView): string | null => (payout.id === "" ? null : payout.id);

export const toNewAccountsPayout = (view: AccountsPayoutView): ResponseOf<typeof createAccountsPayout> => ({
  ...toAccountsPayout(view),
  payoutId: idOf(view),
});

export const toNewWalletsPayout = (view: WalletsPayoutView): ResponseOf<typeof createWalletsPayout> => ({
  ...toWalletsPayout(view),
  payoutId: idOf(view),
});

export const toPayouts = (page: {
  data: readonly PayoutView[];
  nextCursor: string | null;
}): ResponseOf<typeof listPayouts> => ({ data: page.data.map(toPayout), nextCursor: page.nextCursor });

type Items = ResponseOf<typeof listPayoutItems>;

const toItemData = (found: PayoutItems): Items["data"] =>
  found.kind === "wallets"
    ? found.rows.map(walletItems(found.view))
    : found.rows.map((row) => toAccountsItem(found.view, row));

export const toItems = (found: PayoutItems & { nextCursor: string | null }): Items => ({
  data: toItemData(found),
  nextCursor: found.nextCursor,
});

const linesOf = (found: PayoutItems): string[] =>
  found.kind === "wallets"
    ? found.rows.map(walletsCsvLines(found.view))
    : found.rows.map((row) => accountsCsvLine(found.view, row));

/** The rows of a payout as CSV (RFC 4180), one line for each row. */
export const itemsCsv = async function* (view: PayoutView, pages: AsyncIterable<PayoutItems>): AsyncGenerator<string> {
  yield view.kind === "wallets" ? WALLETS_CSV_HEAD : ACCOUNTS_CSV_HEAD;
  for await (const page of pages) yield linesOf(page).join("");
};
