"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import { z } from "zod";
import { ProofPart } from "@/components/features/approvals/proof-part";
import { codeOf } from "@/components/features/money-flow/api-error";
import { actText } from "@/components/features/money-flow/act-text";
import {
  ReviewLayout,
  ReviewNote,
  ReviewSteps,
} from "@/components/features/money-flow/review-layout";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { useApiMutation, useSentOnce } from "@/components/features/session/use-api";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { ChainName } from "@/components/ui/marks";
import { ErrorState } from "@/components/ui/states";
import { tabStore } from "@/components/ui/tab-store";
import { Countdown } from "@/components/ui/time";
import { executePrivateSwap, preparePrivateSwap } from "@/lib/api-client/calls.gen";
import { quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import type { PrivateQuote, PrivateTransfer } from "../parts";
import { pathOfTransfer, useTakeOver } from "../use-private";
import { draftOf } from "./use-private-form";

/** Errors after which the quote can no longer be executed. */
const ENDED_QUOTE: ReadonlySet<string | null> = new Set([
  "quote_expired",
  "quote_already_used",
  "not_found",
]);

interface SwapDialogProps {
  readonly quote: PrivateQuote;
  readonly wallet: { readonly id: string; readonly name: string };
  readonly onNewQuote: () => void;
  readonly onClose: () => void;
}

/**
 * Prepares the swap with a code or second factor, then executes it once. Without a proof, the swap
 * is stored and waits for approval.
 */
const useExecution = ({ quote: { quoteId }, wallet }: SwapDialogProps) => {
  const prepare = useApiMutation(preparePrivateSwap);
  const { mutation, send } = useSentOnce(executePrivateSwap);
  /** Resolves with null after an error, which is then in `error`. */
  const run = async (proof: MoneyProof | null): Promise<PrivateTransfer | null> => {
    mutation.reset();
    const body = { quoteId, privacyWalletId: wallet.id, ...proof };
    try {
      await prepare.mutateAsync({ body });
      return await send({ body: { quoteId } });
    } catch {
      return null;
    }
  };
  return {
    run,
    pending: prepare.isPending || mutation.isPending,
    error: prepare.error ?? mutation.error,
  };
};

/**
 * Reviews a quote. With a proof, the swap runs at once. Without a proof, it waits for approval.
 */
export const SwapDialog = (props: SwapDialogProps): ReactNode => {
  const { quote, wallet, onClose, onNewQuote } = props;
  const router = useRouter();
  const takeOver = useTakeOver();
  const { run, pending, error } = useExecution(props);
  const execute = async (proof: MoneyProof | null): Promise<boolean> => {
    const transfer = await run(proof);
    if (transfer === null) return false;
    draftOf("swap").drop();
    keptQuote.drop();
    takeOver(transfer);
    router.push(
      proof === null ? `${pathOfTransfer(transfer)}?approve=true` : pathOfTransfer(transfer),
    );
    return true;
  };
  const { amount, token } = quote.from;
  return (
    <Dialog
      onClose={onClose}
      title="Review the private swap"
      description={<ReviewSteps noun="private swap" at={pending ? "approve" : "review"} />}
      size="xl"
    >
      <ReviewLayout
        receipt={<SwapReceipt quote={quote} walletName={wallet.name} whole />}
        approve={
          <>
            <Countdown
              until={quote.expiresAt}
              label="Expires in"
              expiredText="This quote has expired"
              className="text-sm text-fg-2"
            />
            <ProofPart
              act={actText("Swap", [{ amount, symbol: token.symbol }])}
              subject={{ quoteId: quote.quoteId }}
              busy={pending}
              money="Nothing was sent."
              onApprove={execute}
            />
            {error === null ? null : (
              <ErrorState
                compact
                error={error}
                money={moneyOf(error)}
                action={
                  ENDED_QUOTE.has(codeOf(error)) ? (
                    <Button size="sm" onClick={onNewQuote}>
                      Get a new quote
                    </Button>
                  ) : undefined
                }
              />
            )}
            <ReviewNote>
              Approving swaps exactly this receipt. Without a proof it is stored and waits for
              approval.
            </ReviewNote>
            <Button
              className="self-start"
              variant="ghost"
              size="sm"
              disabled={pending}
              onClick={() => void execute(null)}
            >
              Approve later
            </Button>
          </>
        }
      />
    </Dialog>
  );
};

const moneyOf = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether it was accepted is not known. Trying again is safe: the money moves once."
    : "Nothing was sent.";

type TokenAmount = PrivateQuote["from"];

interface SwapReceiptProps {
  readonly quote: PrivateQuote;
  readonly walletName: string;
  readonly whole?: boolean;
}

const SCALE = 10n ** 18n;

/** The amount received for one unit of the sold token, truncated to 18 decimals. */
const rateOf = ({ from, expected }: PrivateQuote): string => {
  const sold = BigInt(from.amountBase);
  if (sold === 0n) return "0";
  const rate =
    (BigInt(expected.amountBase) * SCALE * 10n ** BigInt(from.decimals)) /
    (sold * 10n ** BigInt(expected.decimals));
  const text = rate.toString().padStart(19, "0");
  return `${text.slice(0, -18)}.${text.slice(-18)}`;
};

export const SwapReceipt = ({
  quote,
  walletName,
  whole = false,
}: SwapReceiptProps): ReactNode => {
  const text = ({ amount, token }: TokenAmount): ReactNode => (
    <Amount value={amount} unit={token.symbol} exact={whole} />
  );
  return (
    <Facts>
      <Fact label="From and to">{walletName}</Fact>
      <Fact label="On">
        <ChainName chainId={quote.from.token.chainId} />
      </Fact>
      <Fact label="You swap">{text(quote.from)}</Fact>
      <Fact label="Minimum received" strong>
        {text(quote.minimum)}
      </Fact>
      <Fact label="Expected">{text(quote.expected)}</Fact>
      <Fact label="Pool fee (included)">{text(quote.poolFee)}</Fact>
      <Fact label="Rate">
        <Amount value="1" unit={quote.from.token.symbol} plain />{" "}
        <span className="text-fg-3">=</span>{" "}
        <Amount value={rateOf(quote)} unit={quote.expected.token.symbol} plain />
      </Fact>
      <Fact label="Route">{quote.swapVenue ?? "Exchange"}, inside of one transaction</Fact>
      <Fact label="Network fee">paid by the relayer</Fact>
    </Facts>
  );
};

const keptQuote = tabStore(
  "causeway.private.quote",
  z.object({
    /**
     * Id of the project's treasury. A quote with another id belongs to another project and is
     * ignored.
     */
    owner: z.string(),
    walletId: z.string(),
    quote: quotePrivateSwap.response,
  }),
);

/**
 * The quote that a person reviews. It is stored in this tab, so that the review is open again after
 * a reload. A stored quote is ignored when it has expired or belongs to another project or wallet.
 */
export const useReviewedQuote = (owner: string, walletId: string) => {
  const [reviewed, setReviewed] = useState<PrivateQuote | null>(null);
  useEffect(() => {
    const kept = keptQuote.read();
    const isMine = kept?.owner === owner && kept.walletId === walletId;
    if (isMine && Date.parse(kept.quote.expiresAt) > Date.now())
      setReviewed((now) => now ?? kept.quote);
  }, [owner, walletId]);
  const review = (quote: PrivateQuote | null): void => {
    setReviewed(quote);
    if (quote === null) keptQuote.drop();
    else keptQuote.save({ owner, walletId, quote });
  };
  return [reviewed, review] as const;
};
