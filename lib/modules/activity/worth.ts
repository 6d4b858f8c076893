/** The worth of a movement in US dollars as its record has it. No price of today is ever used. */
import { formatAmount } from "@/lib/core/money";
import { peggedWorth, type WorthPart } from "@/lib/core/pegged-worth";
import type { Token } from "@/lib/core/token";
import type { DepositView } from "@/lib/modules/deposits/service";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import type { Movement } from "./movement";

const USD_DECIMALS = 6;

const partOf = ({ token, amountBase }: { readonly token: Token; readonly amountBase: bigint }): WorthPart => ({
  amountBase,
  decimals: token.decimals,
  isPegged: token.usdPegged,
});

const isPegged = (asset: { readonly tokens: readonly Token[] } | null): boolean =>
  asset !== null && asset.tokens.length > 0 && asset.tokens.every(({ usdPegged }) => usdPegged);

const partsOf = (movement: Movement): readonly WorthPart[] => {
  if (movement.type === "operation") return movement.operation.request.sources.map(partOf);
  const ledger = { decimals: LEDGER_DECIMALS };
  if (movement.type === "funding")
    return [{ ...ledger, amountBase: movement.funding.amountBase, isPegged: isPegged(movement.asset) }];
  const { payout } = movement;
  return payout.kind === "wallets"
    ? payout.totals.map(partOf)
    : [{ ...ledger, amountBase: payout.payout.totalBase, isPegged: isPegged(payout.asset) }];
};

export const evaluationIdOf = (movement: Movement): string | null => {
  if (movement.type === "operation") return movement.operation.evaluationId;
  return movement.type === "payout" ? movement.payout.payout.evaluationId : null;
};

/** @param worths US dollars by evaluation */
export const worthOfMovement = (
  movement: Movement,
  { deposit, worths }: { readonly deposit: DepositView | null; readonly worths: ReadonlyMap<string, string> },
): string | null => {
  if (deposit !== null) {
    const { usdMicro, state } = deposit.deposit;
    const isDecided = state === "credited" || state === "released";
    return usdMicro === null || !isDecided ? null : formatAmount(usdMicro, USD_DECIMALS);
  }
  const recorded = worths.get(evaluationIdOf(movement) ?? "");
  return recorded ?? peggedWorth(partsOf(movement));
};
