"use client";

import { ArrowRight } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Countdown } from "@/components/ui/countdown";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { ImpactGate } from "./impact-gate";
import { impactGate, impactOf } from "./quote-change";
import { QuoteFacts } from "./quote-facts";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { PriceChange } from "@/components/features/money-flow/price-change";
import { SHORTAGE_REASON, ShortageAlert } from "@/components/features/money-flow/shortage-alert";
import type { Shortage } from "@/components/features/money-flow/spendable";
import { RefusedPrice, refusedImpact } from "@/components/features/money-flow/refused-price";
import type { Quote } from "./types";
import type { QuoteView } from "./use-quote";
import type { SwapSetup } from "./use-swap-setup";

interface QuoteCardProps {
  readonly setup: SwapSetup;
  readonly view: QuoteView;
  /** More is asked for than may be moved; null where it is not so. */
  readonly shortage: Shortage | null;
  /** False when the fields say all that is wrong. */
  readonly showError: boolean;
  /** Another reason that prevents the review, in a sentence; null when there is none. */
  readonly obstacle: string | null;
  readonly onReview: (quote: Quote) => void;
  /** Asks for the quote in spite of this price impact. */
  readonly onAcceptImpact: (bps: number) => void;
}

/** Why the review cannot be opened yet; null when it can. */
const reasonOf = (view: QuoteView, shortage: Shortage | null, confirmed: boolean): string | null => {
  if (shortage !== null) return SHORTAGE_REASON;
  if (view.loading) return "The quote is on its way.";
  if (view.error !== null) return "Correct the form; the quote then updates.";
  if (view.quote === null || view.outdated) return "Complete the form.";
  if (view.expired) return "This quote has expired; ask for a new one.";
  if (view.seen !== null) return "Accept the new rate first.";
  return confirmed ? null : "Confirm the price impact first.";
};

export const QuoteCard = (props: QuoteCardProps): ReactNode => {
  const { setup, view, shortage, showError, obstacle, onReview, onAcceptImpact } = props;
  const { quote } = view;
  const [confirmedId, setConfirmedId] = useState<string | null>(null);
  const refused = refusedImpact(view.error);
  const gate = quote === null ? "none" : impactGate(impactOf(quote));
  const reason = obstacle ?? reasonOf(view, shortage, gate === "none" || confirmedId === quote?.quoteId);
  return (
    <Card
      title="Receipt"
      flush
      actions={
        quote === null ? null : view.outdated ? (
          <Badge tone={view.loading ? "neutral" : "warning"}>{view.loading ? "Updating …" : "Out of date"}</Badge>
        ) : (
          <Countdown until={quote.expiresAt} label="Expires in" onExpire={view.onExpire} className="text-fg-2" />
        )
      }
    >
      <div role="status" className="sr-only">
        {quote === null || view.outdated ? "" : `Minimum received ${quote.to.minAmount} ${quote.to.token.symbol}.`}
      </div>
      <AmountsShownProvider value>
        {quote === null || view.outdated ? null : (
          <div className="border-b p-4">
            <QuotePicture quote={quote} />
          </div>
        )}
        {quote === null ? null : (
          <div className={cn("px-4 py-1", view.outdated && "bg-sunken")} aria-busy={view.loading}>
            <QuoteFacts quote={quote} setup={setup} />
          </div>
        )}
      </AmountsShownProvider>
      {quote !== null || view.error !== null ? null : view.loading ? (
        <LoadingRows what="the quote" />
      ) : (
        <EmptyState title="No quote yet">The quote appears as soon as the form is complete.</EmptyState>
      )}
      <div className="flex flex-col gap-3 px-4 pb-3 empty:hidden">
        {shortage === null ? null : <ShortageAlert shortage={shortage} />}
        {refused !== null ? (
          <RefusedPrice key={refused} bps={refused} onAccept={onAcceptImpact} />
        ) : view.error === null || !showError ? null : (
          <ErrorState compact error={view.error} money="Nothing was sent." onRetry={view.refresh} />
        )}
        {quote === null || view.outdated ? null : (
          <>
            {quote.warnings.map((warning) => (
              <Alert key={warning.code + warning.message} tone="warning">
                {warning.message}
              </Alert>
            ))}
            {view.seen === null ? null : <PriceChange seen={view.seen.to} fresh={quote.to} onAccept={view.accept} />}
            <ImpactGate
              key={quote.quoteId}
              bps={impactOf(quote)}
              onChange={(ok) => setConfirmedId(ok ? quote.quoteId : null)}
            />
          </>
        )}
      </div>
      <Actions quote={quote} reason={reason} onReview={onReview} />
    </Card>
  );
};

interface ActionsProps extends Pick<QuoteCardProps, "onReview"> {
  readonly quote: QuoteView["quote"];
  /** Why the quote cannot be reviewed; null when it can. */
  readonly reason: string | null;
}

const Actions = ({ quote, reason, onReview }: ActionsProps): ReactNode => {
  const reasonId = useId();
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 border-t px-4 py-3">
      <p id={reasonId} className="mr-auto text-sm text-fg-3">
        {reason}
      </p>
      <Button type="submit">{quote === null ? "Get quote" : "Refresh quote"}</Button>
      <Button
        variant="primary"
        disabled={reason !== null}
        aria-describedby={reasonId}
        onClick={() => (quote === null ? undefined : onReview(quote))}
      >
        Review <ArrowRight aria-hidden />
      </Button>
    </div>
  );
};
