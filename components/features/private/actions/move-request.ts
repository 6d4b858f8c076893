import type { RecipientView } from "@/components/features/transfer/recipient";
import { formatAmount, parseAmount } from "@/lib/core/money";
import type { Observed } from "../observer/scenes";
import { pictureAmount, type PoolBalance } from "../parts";
import type { SendTerms } from "./receipt";
import type { MoveRequest } from "./use-private-form";
import { type FormValues, feesOf } from "./form-model";

interface Checked {
  readonly action: MoveRequest["action"];
  readonly values: FormValues;
  readonly pool: PoolBalance;
  readonly amount: string;
  readonly acceptsSmallSet?: boolean;
}

export const toMoveRequest = ({
  action,
  values,
  pool,
  amount,
  acceptsSmallSet = false,
}: Checked): MoveRequest => {
  const move = {
    chainId: pool.chainId,
    token: pool.token.address,
    amount,
    ...(values.walletId === "" ? {} : { privacyWalletId: values.walletId }),
  };
  const toAddress = values.toAddress.trim();
  if (action === "shield") return { action, body: move };
  if (action === "unshield")
    return { action, body: toAddress === "" ? move : { ...move, toAddress } };
  return {
    action,
    body: {
      ...move,
      ...(values.target === "wallet"
        ? { toPrivacyWalletId: values.toWalletId }
        : { toAddress }),
      ...(acceptsSmallSet ? { acceptSmallSet: true } : {}),
    },
  };
};

const recipientText = (
  terms: SendTerms,
  shortened: (recipient: RecipientView) => string,
): string => {
  if (terms.toWalletName !== null) return terms.toWalletName;
  if (terms.recipient.as !== "none") return shortened(terms.recipient);
  return terms.action === "unshield" ? "Treasury" : "the recipient";
};

/** Describes a move that is not sent yet, for the observer's view. */
export const observedOfTerms = (
  terms: SendTerms,
  shortened: (recipient: RecipientView) => string,
): Observed => {
  const { action, pool, amount, toWalletName } = terms;
  const { symbol, decimals } = pool.token;
  const arrives =
    action === "shield" && amount !== null
      ? feesOf("shield", pool, { amountBase: parseAmount(amount, decimals), target: "address" })
          .netBase
      : null;
  return {
    kind: action === "transfer" && toWalletName !== null ? "inside" : action,
    stage: "planned",
    amount: amount === null ? `… ${symbol}` : pictureAmount(amount, symbol),
    arrives: arrives === null ? null : pictureAmount(formatAmount(arrives, decimals), symbol),
    wallet: terms.walletName,
    recipient: recipientText(terms, shortened),
    pool: `${symbol} pool`,
    toPool: null,
    swapVenue: null,
    setSize: pool.anonymitySet,
  };
};
