"use client";

import { ArrowRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { EmptyState, ErrorState, LoadingRows } from "@/components/ui/states";
import { Countdown } from "@/components/ui/time";
import { ApiError } from "@/lib/api-client/client";
import { refusedImpact, RefusedPrice, SHORTAGE_REASON, ShortageAlert } from "./price-notices";
import type { Shortage } from "./spendable";

/** The state of the quote for a form. */
export interface QuoteState {
  /** The shown quote does not match the form, or a newer one is being loaded. */
  readonly outdated: boolean;
  readonly loading: boolean;
  readonly expired: boolean;
  readonly error: unknown;
  /** Requests a quote now, without waiting until the typing stops. */
  readonly ask: () => void;
  /** Called when the countdown ends. */
  readonly onExpire: () => void;
}

interface ClockProps {
  readonly view: Pick<QuoteState, "outdated" | "loading" | "onExpire">;
  /** Null where the quote does not expire. */
  readonly expiresAt: string | null;
}

/** How long the shown quote is good. */
export const QuoteClock = ({ view, expiresAt }: ClockProps): ReactNode => {
  if (view.outdated && view.loading) return <Badge>Updating …</Badge>;
  if (view.outdated) return <Badge tone="warning">Out of date</Badge>;
  if (expiresAt === null) return null;
  return (
    <Countdown
      until={expiresAt}
      label="Expires in"
      onExpire={view.onExpire}
      className="text-fg-2"
    />
  );
};

export interface ReviewProps<Quote> {
  /** Set when the requested amount is above the available one, else null. */
  readonly shortage: Shortage | null;
  /** Another reason that prevents the review, in a sentence; null when there is none. */
  readonly obstacle: string | null;
  /** Codes of warnings that the form shows itself. */
  readonly said: ReadonlySet<string>;
  readonly onReview: (quote: Quote) => void;
  /** Requests the quote with this price impact accepted. */
  readonly onAcceptImpact: (bps: number) => void;
}

interface QuoteShellProps extends Pick<
  ReviewProps<never>,
  "shortage" | "obstacle" | "onAcceptImpact"
> {
  readonly view: QuoteState;
  /** The newest quote; null before the first. */
  readonly quote: {
    readonly expiresAt: string | null;
    /** `12.5 USDC`. */
    readonly minimum: string;
    readonly picture: ReactNode;
    readonly facts: ReactNode;
  } | null;
  /**
   * Whether to show the error of the quote; false when the form's fields already show every error.
   */
  readonly showError: boolean;
  /** A sentence about the loss or fee of this quote that has to be accepted first. */
  readonly gate?: string | null;
  /** Opens the review; absent while there is no quote. */
  readonly onReview?: () => void;
  /** Warnings and questions about a quote that is not out of date. */
  readonly children?: ReactNode;
}

interface ReviewBarProps {
  /** Why the review cannot be opened yet; null when it can. */
  readonly reason: string | null;
  readonly loading?: boolean;
  /** Without it, the button submits the surrounding form. */
  readonly onReview?: () => void;
  /** Further buttons, before that of the review. */
  readonly children?: ReactNode;
}

/** The foot of a receipt: the review button, and the reason when it is disabled. */
export const ReviewBar = ({
  reason,
  loading,
  onReview,
  children,
}: ReviewBarProps): ReactNode => {
  const reasonId = useId();
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 border-t px-4 py-3">
      <p id={reasonId} className="mr-auto text-sm text-fg-3">
        {reason}
      </p>
      {children}
      <Button
        type={onReview === undefined ? "submit" : "button"}
        variant="primary"
        loading={loading}
        disabled={reason !== null}
        aria-describedby={reasonId}
        onClick={onReview}
      >
        Review <ArrowRight aria-hidden />
      </Button>
    </div>
  );
};

/** Signed out, timed out, too many requests: another form gets the same answer (RFC 9110). */
const WHATEVER_IS_ASKED = new Set([401, 408, 429]);

const isAboutForm = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !WHATEVER_IS_ASKED.has(error.status);

/** The next step after a request for a quote that failed. */
export const reasonOfError = (error: unknown): string =>
  isAboutForm(error)
    ? "Correct the form; the quote then updates."
    : "There is no quote now. Refresh it to try again.";

/** Why the quote cannot be reviewed yet; null when it can. */
const reasonOf = ({ view, quote, shortage }: QuoteShellProps): string | null => {
  if (shortage !== null) return SHORTAGE_REASON;
  if (view.loading) return "The quote is on its way.";
  if (view.error !== null) return reasonOfError(view.error);
  if (quote === null || view.outdated) return "Complete the form.";
  return view.expired ? "This quote has expired; ask for a new one." : null;
};

/** Stands in place of the first quote. */
const NoQuote = ({ view }: Pick<QuoteShellProps, "view">): ReactNode => {
  if (view.error !== null) return null;
  if (view.loading) return <LoadingRows what="the quote" />;
  return (
    <EmptyState title="No quote yet">
      The quote appears as soon as the form is complete.
    </EmptyState>
  );
};

/** The error of the last request for a quote; a price impact that was too high can be accepted. */
const QuoteProblem = ({ view, showError, onAcceptImpact }: QuoteShellProps): ReactNode => {
  const refused = refusedImpact(view.error);
  if (refused !== null)
    return <RefusedPrice key={refused} bps={refused} onAccept={onAcceptImpact} />;
  if (view.error === null || !showError) return null;
  return <ErrorState compact error={view.error} money="Nothing was sent." onRetry={view.ask} />;
};

/** The receipt beside a form: the quote, and the button that opens its review. */
export const QuoteShell = (props: QuoteShellProps): ReactNode => {
  const { view, quote, shortage, obstacle, gate = null, onReview, children } = props;
  const current = view.outdated ? null : quote;
  return (
    <Card
      title="Receipt"
      flush
      actions={quote === null ? null : <QuoteClock view={view} expiresAt={quote.expiresAt} />}
    >
      <div role="status" className="sr-only">
        {current === null ? "" : `Minimum received ${current.minimum}.`}
      </div>
      <AmountsShownProvider value>
        {current === null ? null : <div className="border-b p-4">{current.picture}</div>}
        {quote === null ? null : (
          <div
            className={cn("px-4 py-1", view.outdated && "bg-sunken")}
            aria-busy={view.loading}
          >
            {quote.facts}
          </div>
        )}
      </AmountsShownProvider>
      {quote === null ? <NoQuote view={view} /> : null}
      <div className="flex flex-col gap-3 px-4 pb-3 empty:hidden">
        {shortage === null ? null : <ShortageAlert shortage={shortage} />}
        <QuoteProblem {...props} />
        {current === null ? null : children}
      </div>
      <ReviewBar reason={obstacle ?? reasonOf(props) ?? gate} onReview={onReview}>
        <Button type="submit">{quote === null ? "Get quote" : "Refresh quote"}</Button>
      </ReviewBar>
    </Card>
  );
};

type Payer = "sponsor" | "wallet" | null;

const WORDS = {
  sponsor: "paid by the project's sponsor",
  wallet: "paid by your wallet",
  mixed: "paid in part by the project's sponsor, in part by your wallets",
  open: "known once it is approved",
} as const;

const wordsFor = (paidBy: readonly Payer[]): string => {
  if (paidBy.includes(null)) return WORDS.open;
  if (paidBy.every((payer) => payer === "sponsor")) return WORDS.sponsor;
  return paidBy.includes("sponsor") ? WORDS.mixed : WORDS.wallet;
};

/** The network fees of all sources, by payer. */
export const NetworkFee = ({ paidBy }: { readonly paidBy: readonly Payer[] }): ReactNode => (
  <span>{wordsFor(paidBy)}</span>
);
