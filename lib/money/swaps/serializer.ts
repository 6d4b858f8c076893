import type { z } from "zod";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { action, balanceChange, quoteRecord } from "@/lib/contracts/quote-records";
import type { prepareSwap } from "@/lib/contracts/swap";
import type { swapAndTransfer } from "@/lib/contracts/transfers";
import { formatAmount } from "@/lib/core/money";
import type { Operation } from "@/lib/money/operations/service";
import { type PreparedLeg, type Quote, type SourceWallet } from "@/lib/money/quotes/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { SimulatedChange } from "./prepare-leg";
import { toTokenRecord } from "@/lib/core/token";

export type Action = z.output<typeof action>;
type QuoteRecord = z.output<typeof quoteRecord>;
export type BalanceChange = z.output<typeof balanceChange>;

/** An operation that a single call started, or that awaits approval after such a call. */
export interface Begun {
  readonly operation: Pick<
    Operation,
    "id" | "status" | "subStatus" | "request" | "minimumBase" | "expiresAt"
  >;
  /** The warnings of the quote, for example that the price is far below the price of the feeds. */
  readonly warnings: Quote["warnings"];
}

export const toBegun = ({
  operation,
  warnings,
}: Begun): ResponseOf<typeof swapAndTransfer> => ({
  operationId: operation.id,
  status: operation.status,
  subStatus: operation.subStatus,
  minimum: formatAmount(operation.minimumBase, operation.request.destination.token.decimals),
  expiresAt: operation.expiresAt?.toISOString() ?? null,
  warnings: [...warnings],
});

/** A change of balance in the simulation. `change` has a sign and the decimals of its token. */
export const toBalanceChange = ({
  wallet,
  token,
  base,
  certainty,
}: SimulatedChange): BalanceChange => ({
  walletAddress: wallet as BalanceChange["walletAddress"],
  chainId: token.chainId,
  token: toTokenRecord(token),
  change: `${base > 0n ? "+" : ""}${formatAmount(base, token.decimals)}`,
  certainty,
});

export const toPrepared = (prepared: {
  readonly quote: Quote;
  readonly record: QuoteRecord;
  readonly to: QuoteRecord["to"];
  readonly preparedUntil: Date;
  readonly balanceChanges: BalanceChange[];
  readonly actions: Action[];
}): ResponseOf<typeof prepareSwap> => {
  const { quote, record, to, preparedUntil, balanceChanges, actions } = prepared;
  return {
    prepared: true,
    quoteId: quote.id,
    ...(quote.transferId === null ? {} : { transferId: quote.transferId }),
    expiresAt: preparedUntil.toISOString(),
    to,
    warnings: record.warnings,
    networkFees: record.from.flatMap(({ address, chainId, networkFeePaidBy }) =>
      networkFeePaidBy === null
        ? []
        : { walletAddress: address, chainId, paidBy: networkFeePaidBy },
    ),
    simulation: { balanceChanges },
    actions,
  };
};

/** The actions of a linked wallet for a prepared leg. Empty when the service signs. */
export const toActions = (
  leg: PreparedLeg,
  at: { wallet: SourceWallet; chainId: number },
): Action[] => {
  const common = {
    walletId: at.wallet.id,
    walletAddress: at.wallet.address as EvmAddress,
    chainId: at.chainId,
  };
  switch (leg.by) {
    case "service":
      return [];
    case "owner": {
      const { actionId: id, signer, description, typedData } = leg.action;
      return [
        {
          ...common,
          id,
          signerAddress: signer,
          kind: "user_operation",
          description,
          typedData,
        },
      ];
    }
    case "permit": {
      const { actionId: id, signer, description, typedData } = leg.action;
      return [
        { ...common, id, signerAddress: signer, kind: "typed_data", description, typedData },
      ];
    }
    case "wallet":
      return leg.transactions.map(({ actionId: id, description, to, data, value, gas }) => ({
        ...common,
        id,
        signerAddress: leg.wallet,
        kind: "transaction",
        description,
        transaction: { to, data, value: value.toString(), gas: gas.toString() },
      }));
  }
};
