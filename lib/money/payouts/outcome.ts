/**
 * Describes the outcome of a payout for people: what happened, where the money is, and what to do
 * next. The result depends only on the payout's state, its failure, its rows and its batches.
 */
import { WAITS_FOR_APPROVAL } from "@/lib/core/approval-advice";
import { shownChain } from "@/lib/chain/shown-chain";
import { countText } from "@/lib/core/amount-text";
import { formatAmount } from "@/lib/core/money";
import { isFinal, isRefusedAtStart } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { gasWaitSentence, type Holding, type Outcome } from "@/lib/money/operations/service";
import { FUNDING_FAILED } from "./errors";
import type {
  PayoutParts,
  PayoutView,
  WalletsPayoutParts,
  WalletsPayoutView,
} from "./payout-view";
import { mayOf } from "./permissions";
import type { BatchGroup, WalletRowStatus } from "./wallets/read-repository";
import { tokenName } from "./wallets/rows";

/**
 * The state of a row. `doubt`: another operation may have paid the row, and a person has to decide.
 * `unknown`: the row's operation was submitted, and the chain may or may not have accepted it.
 * `cancelled`: the payout ended before the row was tried.
 */
type RowState = WalletRowStatus | "doubt";

export type RowCounts = Readonly<Record<RowState, number>> & { readonly total: number };

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, each) => total + each, 0);

const rowsIn = (groups: readonly Pick<BatchGroup, "rows">[]): number =>
  sum(groups.map(({ rows }) => rows));

/** Counts the rows of a payout by state. Rows in doubt are counted apart from failed rows. */
export const rowCountsOf = (parts: PayoutParts): RowCounts => {
  const { itemsTotal: total, itemsCompleted: paid, itemsFailed: failed, status } = parts.payout;
  if (parts.kind === "global_accounts") {
    const left = total - paid - failed;
    const [queued, cancelled] = isFinal(status) ? [0, left] : [left, 0];
    const none = { sent: 0, confirmed: 0, unknown: 0, doubt: 0 };
    return { ...none, total, paid, failed, queued, cancelled };
  }
  const { groups } = parts;
  const of = (state: WalletRowStatus): number =>
    rowsIn(groups.filter((group) => group.status === state));
  const doubt = rowsIn(groups.flatMap(({ doubts }) => doubts));
  // Batches do not count rows that failed individually, so the difference to the total is the
  // number of such rows.
  const setAside = total - rowsIn(groups);
  return {
    total,
    queued: of("queued"),
    sent: of("sent"),
    confirmed: of("confirmed"),
    paid: of("paid"),
    failed: of("failed") + setAside - doubt,
    doubt,
    unknown: of("unknown"),
    cancelled: of("cancelled"),
  };
};

const rowsText = (count: number): string =>
  `${countText(count, "en")} ${count === 1 ? "row" : "rows"}`;

/** Counts rows at the beginning of a sentence: `1 row was`, `2 rows were`. */
const rowsWere = (count: number): string =>
  `${rowsText(count)} ${count === 1 ? "was" : "were"}`;

const COUNTED = [
  ["failed", "failed"],
  ["doubt", "in doubt"],
  ["confirmed", "confirmed"],
  ["sent", "sent"],
  ["unknown", "being checked"],
  ["queued", "queued"],
  ["cancelled", "not sent"],
] as const satisfies readonly (readonly [RowState, string])[];

const awaitsApproval = ({ status, subStatus }: PayoutParts["payout"]): boolean =>
  status === "pending" && subStatus === "awaiting_approval";

/** The progress in one sentence, such as `812 of 1,000 rows paid, 3 failed, 185 queued.` */
const sentenceOf = ({ payout }: PayoutParts, counts: RowCounts): string => {
  const rows = rowsText(counts.total);
  if (awaitsApproval(payout)) return `${rows} to pay once this is approved.`;
  if (payout.status === "cancelled") return `Cancelled: none of ${rows} was paid.`;
  if (payout.status === "expired") return `Not approved in time: none of ${rows} was paid.`;
  if (isRefusedAtStart(payout))
    return `Approved, and refused when it was to start: none of ${rows} was paid.`;
  const others = COUNTED.filter(([state]) => counts[state] > 0).map(
    ([state, word]) => `${countText(counts[state], "en")} ${word}`,
  );
  return `${[`${countText(counts.paid, "en")} of ${rows} paid`, ...others].join(", ")}.`;
};

const treasuryOf = ({ own, chains }: WalletsPayoutView): string =>
  `in the treasury ${own.fromAddress} on ${shownChain(chains, own.chainId).name}`;

/** Returns the words that say where the unpaid money is. */
const unpaidPlace = (view: PayoutView): string => {
  const accountId = view.payout.sourceAccountId;
  if (accountId !== null) return `in the account ${accountId}`;
  return view.kind === "wallets" ? treasuryOf(view) : "in the account";
};

/**
 * The part of a withdrawal that was debited from the account and is neither paid nor returned, in
 * ledger units. The part is 0 before the payout starts, because the start debits the account.
 */
export const inTransitBase = ({ payout }: WalletsPayoutParts): bigint =>
  payout.evaluationId === null ? 0n : payout.totalBase - payout.paidBase - payout.failedBase;

const inTransitText = (view: PayoutView): string => {
  const accountId = view.payout.sourceAccountId;
  if (view.kind !== "wallets" || accountId === null || inTransitBase(view) === 0n) return "";
  const amount = formatAmount(inTransitBase(view), LEDGER_DECIMALS);
  return ` ${amount} stays in transit and is not in the account ${accountId} again until it is decided.`;
};

const retryText = (view: PayoutView, counts: RowCounts): string => {
  if (isRefusedAtStart(view.payout)) return " Create it again once the reason is gone.";
  if (!mayOf(view).retry) return "";
  return ` Retry pays the ${counts.doubt > 0 ? "other " : ""}failed rows alone.`;
};

/**
 * Explains a payout that ended with unpaid rows: where their money is, and which of them another
 * operation may have paid.
 */
const unpaidText = (view: PayoutView, counts: RowCounts): string => {
  const { paid, doubt } = counts;
  const left = counts.total - paid - doubt;
  const place = unpaidPlace(view);
  const retry = retryText(view, counts);
  const doubts =
    doubt === 0
      ? ""
      : ` Another operation of the treasury may have paid ${rowsText(doubt)}: do not pay them again before an owner or an admin has decided about them.${inTransitText(view)}`;
  const rest = left === 0 ? "" : ` The money of the other ${rowsText(left)} is ${place}.`;
  if (paid > 0) return `${rowsWere(paid)} paid.${rest}${doubts}${retry}`;
  if (doubt === 0) return `Nothing was paid; the money is ${place}.${retry}`;
  return `This payout paid nothing itself.${doubts}${rest}${retry}`;
};

const BRINGS =
  "Nothing to do: the missing part is on its way to the chain (see the operation in fundedBy). Rows are paid once it has arrived.";

/**
 * Explains a payout whose funding operation failed: the money of that operation is where the
 * operation's record says, and the rest is in the treasury.
 */
const notBrought = (view: WalletsPayoutView, counts: RowCounts): string =>
  `Nothing was paid. The money that the operation ${view.own.fundedBy ?? ""} was to bring is where its record says; the rest is ${treasuryOf(view)}.${retryText(view, counts)}`;

const nextOfPending = (view: PayoutView): string => {
  if (awaitsApproval(view.payout)) return `${WAITS_FOR_APPROVAL} Nothing was paid.`;
  if (view.kind === "global_accounts") return "Nothing to do: it is about to be paid.";
  return view.own.fundedBy === null
    ? `Nothing to do: it is about to be paid. The money is held ${treasuryOf(view)}.`
    : BRINGS;
};

const nextOfProcessing = (view: PayoutView, counts: RowCounts): string => {
  if (view.kind === "global_accounts") return "Nothing to do: it is being paid.";
  if (view.payout.subStatus === "bridging") return BRINGS;
  const held = treasuryOf(view);
  const waits = gasWaitSentence(view.own.gasWaits, view.chains);
  if (waits !== null && counts.queued + counts.sent > 0)
    return `${waits} The money is held ${held}.`;
  return counts.unknown > 0
    ? `Nothing to do: ${rowsWere(counts.unknown)} offered to the chain and not seen yet. Do not pay them again: each is paid once, or its money stays ${unpaidPlace(view)}.`
    : `Nothing to do: it goes on by itself, also when this page is closed. What is not paid yet is held ${held}.`;
};

const nextActionOf = (view: PayoutView, counts: RowCounts): string => {
  const { payout } = view;
  switch (payout.status) {
    case "pending":
      return nextOfPending(view);
    case "processing":
      return nextOfProcessing(view, counts);
    case "completed":
      return "Nothing to do: every row was paid.";
    case "partially_completed":
    case "failed":
      return view.kind === "wallets" && payout.failure?.code === FUNDING_FAILED
        ? notBrought(view, counts)
        : unpaidText(view, counts);
    case "refunded":
    case "cancelled":
    case "expired":
      return `Nothing was paid; the money is ${unpaidPlace(view)}.`;
  }
};

/** The note on the money of rows that were not sent yet. */
const waitingNote = ({ payout, own }: WalletsPayoutParts): string => {
  if (awaitsApproval(payout)) return "until somebody approves";
  if (payout.subStatus === "prepared" || payout.subStatus === "bridging")
    return "there, or on its way there with the operation that brings it";
  return own.gasWaits.length > 0 ? "held until the network fee falls" : "held until it is sent";
};

const RECIPIENTS = "the recipients";

/** Returns where the money of the rows in one state is, with a note for people. */
const placeOf = (
  parts: WalletsPayoutParts,
  state: RowState,
): Pick<Holding, "wallet" | "note"> => {
  const { payout, own } = parts;
  const treasury = own.fromAddress;
  const origin = payout.sourceAccountId ?? treasury;
  switch (state) {
    case "queued":
      return { wallet: awaitsApproval(payout) ? origin : treasury, note: waitingNote(parts) };
    case "sent":
      return { wallet: treasury, note: "held until the transaction that was sent is mined" };
    case "unknown":
      return {
        wallet: treasury,
        note: "offered to the chain and not seen yet: it is paid once, or stays there",
      };
    case "confirmed":
      return { wallet: RECIPIENTS, note: "received, waiting for confirmations" };
    case "paid":
      return { wallet: RECIPIENTS, note: "received" };
    case "failed":
      return payout.failure?.code === FUNDING_FAILED
        ? {
            wallet: treasury,
            note: "not paid; there, or where the operation that was to bring it left it",
          }
        : { wallet: origin, note: "not paid" };
    case "doubt":
      return {
        wallet: treasury,
        note: "there, or paid by another operation of the treasury: not certain until somebody decides",
      };
    case "cancelled":
      return { wallet: origin, note: "not sent" };
  }
};

const STATES = [
  "paid",
  "confirmed",
  "sent",
  "unknown",
  "queued",
  "doubt",
  "failed",
  "cancelled",
] as const satisfies readonly RowState[];

const baseIn = (parts: readonly { readonly amountBase: bigint }[]): bigint =>
  parts.reduce((total, { amountBase }) => total + amountBase, 0n);

export const paidIn = (groups: readonly BatchGroup[], token: Pick<Token, "address">): bigint =>
  baseIn(groups.filter((group) => group.status === "paid" && group.token === tokenName(token)));

const amountsOf = (
  groups: readonly BatchGroup[],
  totalBase: bigint,
): Readonly<Record<RowState, bigint>> => {
  const of = (state: WalletRowStatus): bigint =>
    baseIn(groups.filter((group) => group.status === state));
  const doubt = baseIn(groups.flatMap(({ doubts }) => doubts));
  return {
    paid: of("paid"),
    confirmed: of("confirmed"),
    sent: of("sent"),
    unknown: of("unknown"),
    queued: of("queued"),
    doubt,
    failed: of("failed") + totalBase - baseIn(groups) - doubt,
    cancelled: of("cancelled"),
  };
};

/**
 * The amounts of a payout by token and state, and where each amount is. Empty for a payout between
 * accounts, because its money is on no chain.
 */
const holdingsOf = (parts: PayoutParts): Holding[] => {
  if (parts.kind === "global_accounts") return [];
  return parts.own.totals.flatMap(({ token, amountBase: totalBase }) => {
    const groups = parts.groups.filter((group) => group.token === tokenName(token));
    const amounts = amountsOf(groups, totalBase);
    return STATES.filter((state) => amounts[state] > 0n).map((state) => ({
      ...placeOf(parts, state),
      token,
      amountBase: amounts[state],
      txHash: null,
    }));
  });
};

export const outcomeOf = (view: PayoutView): Outcome => {
  const counts = rowCountsOf(view);
  return {
    sentence: sentenceOf(view, counts),
    holdings: holdingsOf(view),
    nextAction: nextActionOf(view, counts),
  };
};
