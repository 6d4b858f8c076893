"use client";

import type { ReactNode } from "react";
import { z } from "zod";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { extraOf } from "@/components/features/money-flow/api-error";
import { actText, askText } from "@/components/features/money-flow/act-text";
import { ReceiptParty, ReceiptRecipient } from "@/components/features/money-flow/receipt-parts";
import type {
  MovePromise,
  MoveSource,
  MoveSubject,
  Payer,
} from "@/components/features/money-flow/types";
import { compareAmounts } from "@/components/features/swap/decimal";
import { movedQuoteOf } from "@/components/features/swap/quote-change";
import { FeeLines, secondsText } from "@/components/features/swap/fee-lines";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts } from "@/components/ui/card";
import { createTransfer } from "@/lib/contracts/transfers";
import type { RecipientView } from "./recipient";
import { LookAlikeAlert } from "./recipient-notes";
import { destinationOf, pictureOf, type TransferRecord } from "./transfer-picture";

const KNOWN_AS = z.enum(["own", "contact", "proposed", "earlier"]);

const lookAlike = z.object({ address: z.string(), name: z.string(), as: KNOWN_AS }).nullable();

interface Names {
  readonly fromName: string;
  readonly recipient: RecipientView;
}

/**
 * The transfer that replaces a transfer whose price has changed. The error contains the new terms
 * as a quote.
 */
const movedTransfer = (error: unknown, names: Names): MoveSubject | null => {
  const quote = movedQuoteOf(error);
  const source = quote?.from[0];
  const transferId = extraOf(error, "transferId");
  if (quote === null || source === undefined || typeof transferId !== "string") return null;
  const { to, fees, steps, estimatedSeconds, expiresAt, warnings, votes } = quote;
  const terms = {
    ...names,
    fromAddress: source.address,
    fromChainId: source.chainId,
    sent: source,
    fees,
    steps,
    estimatedSeconds,
    warnings,
    votes,
    networkFeePaidBy: source.networkFeePaidBy,
  };
  return subjectOf({ transferId, to, expiresAt, terms }, names);
};

interface Parts {
  readonly transferId: string;
  readonly to: MoveSubject["to"];
  readonly expiresAt: string | null;
  readonly terms: TransferTerms;
}

const subjectOf = ({ transferId, to, expiresAt, terms }: Parts, names: Names): MoveSubject => ({
  ids: { transferId },
  noun: "transfer",
  act:
    terms.votes === null
      ? actText("Pay", [{ amount: terms.sent.amount, symbol: terms.sent.token.symbol }])
      : askText(terms.votes.count),
  votes: terms.votes,
  from: [{ address: terms.fromAddress, chainId: terms.fromChainId, ...terms.sent }],
  to,
  warnings: terms.warnings,
  networkFees: [terms.networkFeePaidBy],
  expiresAt,
  receipt: (priced) => <TransferReceipt terms={terms} to={priced} />,
  movedTo: (error) => movedTransfer(error, names),
});

export const subjectOfTransfer = (transfer: TransferRecord, names: Names): MoveSubject => {
  const { transferId, expiresAt } = transfer;
  const to = destinationOf(transfer);
  const subject = subjectOf(
    { transferId, to, expiresAt, terms: { ...transfer, ...names } },
    names,
  );
  return { ...subject, stored: { transfer, names } };
};

const storedTransfer = z.object({
  transfer: createTransfer.response,
  names: z.object({
    fromName: z.string(),
    recipient: z.discriminatedUnion("as", [
      z.object({ as: z.literal("none") }),
      z.object({
        as: z.literal("new"),
        address: z.string(),
        name: z.null(),
        lookAlike,
      }),
      z.object({
        as: KNOWN_AS,
        address: z.string(),
        name: z.string(),
        lookAlike,
      }),
    ]),
  }),
});

/**
 * The subject that was stored before a reload; null when its source is not among `wallets`, because
 * it then belongs to another person.
 */
export const reviveTransfer = (
  stored: unknown,
  wallets: readonly { readonly address: string }[],
): MoveSubject | null => {
  const { data } = storedTransfer.safeParse(stored);
  const isOwn = wallets.some(({ address }) => address === data?.transfer.fromAddress);
  return data !== undefined && isOwn ? subjectOfTransfer(data.transfer, data.names) : null;
};

/**
 * The terms on the receipt of a transfer. They come from the transfer or, when its price has
 * changed, from the quote that replaces it.
 */
interface TransferTerms {
  readonly fromName: string;
  readonly fromAddress: string;
  readonly fromChainId: number;
  readonly sent: Pick<MoveSource, "amount" | "token">;
  readonly warnings: MovePromise["warnings"];
  readonly votes: MoveSubject["votes"];
  readonly networkFeePaidBy: Payer;
  readonly fees: TransferRecord["fees"];
  readonly steps: TransferRecord["steps"];
  readonly estimatedSeconds: number;
  readonly recipient: RecipientView;
}

interface TransferReceiptProps {
  readonly terms: TransferTerms;
  /**
   * The amounts that the person approves or, after the preparation, the amounts that are executed.
   */
  readonly to: MovePromise["to"];
}

/** The full review of the execution, without shortened addresses. */
const TransferReceipt = ({ terms, to }: TransferReceiptProps): ReactNode => {
  const { recipient } = terms;
  return (
    <div className="flex flex-col gap-2">
      {recipient.as === "none" || recipient.lookAlike === null ? null : (
        <LookAlikeAlert address={recipient.address} lookAlike={recipient.lookAlike} />
      )}
      <QuotePicture quote={pictureOf(terms, to)} />
      <Facts>
        <Fact label="From">
          <ReceiptParty address={terms.fromAddress} chainId={terms.fromChainId} />
        </Fact>
        <Fact label="To">
          <ReceiptRecipient address={to.address} chainId={to.chainId} />
        </Fact>
        <Fact label="You send">
          <Amount value={terms.sent.amount} unit={terms.sent.token.symbol} exact />
        </Fact>
        <Fact label="Minimum received" strong>
          <Amount value={to.minAmount} unit={to.token.symbol} exact />
        </Fact>
        {compareAmounts(to.amount, to.minAmount) === 0 ? null : (
          <Fact label="Expected">
            <Amount value={to.amount} unit={to.token.symbol} exact />
          </Fact>
        )}
        <Fact label="Fees (included)">
          <FeeLines fees={terms.fees} />
        </Fact>
        <Fact label="Takes about">
          <span className="num">{secondsText(terms.estimatedSeconds)}</span>
        </Fact>
      </Facts>
    </div>
  );
};
