"use client";

import { ArrowRight, RotateCw } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { EmptyState, ErrorState, LoadingRows } from "@/components/ui/states";
import { Countdown } from "@/components/ui/time";
import { ApiError } from "@/lib/api-client/client";
import { refusedImpact, RefusedPrice, SHORTAGE_REASON, ShortageAlert } from "./price-notices";
import type { Shortage } from "./spendable";

export interface QuoteState {
  /** Whether the shown quote does not match the form, or a newer one is loading. */
  readonly outdated: boolean;
  readonly loading: boolean;
  readonly expired: boolean;
  readonly error: unknown;
  /** Requests a quote at once, without waiting for the person to stop typing. */
  readonly ask: () => void;
  readonly onExpire: () => void;
}

interface ClockProps {
  readonly view: Pick<QuoteState, "outdated" | "loading" | "onExpire">;
  /** Null where the quote does not expire. */
  readonly expiresAt: string | null;
}

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
  readonly shortage: Shortage | null;
  /** Another reason that prevents the review, in a sentence; null when there is none. */
  readonly obstacle: string | null;
  /** Codes of warnings that the form already shows. */
  readonly said: ReadonlySet<string>;
  readonly onReview: (quote: Quote) => void;
  /** Called with the price impact, in basis points, that the person accepted. */
  readonly onAcceptImpact: (bps: number) => void;
}

interface QuoteShellProps extends Pick<
  ReviewProps<never>,
  "shortage" | "obstacle" | "onAcceptImpact"
> {
  readonly view: QuoteState;
  readonly quote: {
    readonly expiresAt: string | null;
    readonly minimum: { readonly amount: string; readonly symbol: string };
    readonly picture: ReactNode;
    readonly facts: ReactNode;
  } | null;
  /**
   * Whether to show the error of the quote. False when the fields of the form already show all
   * errors.
   */
  readonly showError: boolean;
  /** A sentence about the loss or fee that the person must accept before the review. */
  readonly gate?: string | null;
  readonly onReview?: () => void;
  readonly children?: ReactNode;
}

interface ReviewBarProps {
  readonly reason: string | null;
  readonly loading?: boolean;
  /** Without this callback, the button submits the surrounding form. */
  readonly onReview?: () => void;
  /** The most important number of the receipt, for small windows, where the receipt is below. */
  readonly summary?: ReactNode;
}

/**
 * The button that opens the review. It stays in view: at the bottom of the receipt, and at the
 * bottom of the window where the receipt is below the fields.
 */
export const ReviewBar = ({
  reason,
  loading,
  onReview,
  summary,
}: ReviewBarProps): ReactNode => {
  const reasonId = useId();
  return (
    <div data-review-bar className={BAR_LOOKS}>
      <p id={reasonId} className="min-w-0 text-sm text-fg-3 lg:text-center">
        {reason ?? (
          <>
            <span className="block text-fg-2 lg:hidden">{summary}</span>
            <span className="max-lg:sr-only">You approve in the next step.</span>
          </>
        )}
      </p>
      <Button
        type={onReview === undefined ? "submit" : "button"}
        variant="primary"
        className="lg:w-full"
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

const BAR_LOOKS = [
  "flex border-t bg-surface px-4 py-3 print:hidden",
  "max-lg:fixed max-lg:inset-x-0 max-lg:z-20 max-lg:items-center max-lg:justify-between max-lg:gap-3",
  "max-md:bottom-[calc(3.5rem+env(safe-area-inset-bottom))] md:max-lg:bottom-0 md:max-lg:left-54",
  "lg:sticky lg:bottom-0 lg:flex-col-reverse lg:gap-2 lg:rounded-b-card",
].join(" ");

/**
 * Statuses of errors that have no cause in the form: signed out, timed out, too many requests (RFC
 * 9110).
 */
const WHATEVER_IS_ASKED = new Set([401, 408, 429]);

const isAboutForm = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !WHATEVER_IS_ASKED.has(error.status);

export const reasonOfError = (error: unknown): string =>
  isAboutForm(error)
    ? "Correct the form; the quote then updates."
    : "There is no quote now. Refresh it to try again.";

const reasonOf = ({ view, quote, shortage }: QuoteShellProps): string | null => {
  if (shortage !== null) return SHORTAGE_REASON;
  if (view.loading) return "The quote is on its way.";
  if (view.error !== null) return reasonOfError(view.error);
  if (quote === null || view.outdated) return "Complete the form.";
  return view.expired ? "This quote has expired; ask for a new one." : null;
};

const NoQuote = ({ view }: Pick<QuoteShellProps, "view">): ReactNode => {
  if (view.error !== null) return null;
  if (view.loading) return <LoadingRows what="the quote" />;
  return (
    <EmptyState title="No quote yet">
      The quote appears as soon as the form is complete.
    </EmptyState>
  );
};

/**
 * The error of the last quote request. When the price impact was too high, the person can accept
 * it.
 */
const QuoteProblem = ({ view, showError, onAcceptImpact }: QuoteShellProps): ReactNode => {
  const refused = refusedImpact(view.error);
  if (refused !== null)
    return <RefusedPrice key={refused} bps={refused} onAccept={onAcceptImpact} />;
  if (view.error === null || !showError) return null;
  return <ErrorState compact error={view.error} money="Nothing was sent." onRetry={view.ask} />;
};

export const QuoteShell = (props: QuoteShellProps): ReactNode => {
  const { view, quote, shortage, obstacle, gate = null, onReview, children } = props;
  const current = view.outdated ? null : quote;
  return (
    <Card
      title="Receipt"
      flush
      actions={
        <>
          {quote === null ? null : <QuoteClock view={view} expiresAt={quote.expiresAt} />}
          <AskButton isFirst={quote === null} />
        </>
      }
    >
      <div role="status" className="sr-only">
        {current === null
          ? ""
          : `Minimum received ${current.minimum.amount} ${current.minimum.symbol}.`}
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
      <div className="flex flex-col gap-3 px-4 py-3 empty:hidden">
        {shortage === null ? null : <ShortageAlert shortage={shortage} />}
        <QuoteProblem {...props} />
        {current === null ? null : children}
      </div>
      <ReviewBar
        reason={obstacle ?? reasonOf(props) ?? gate}
        onReview={onReview}
        summary={current === null ? null : <Minimum {...current.minimum} />}
      />
    </Card>
  );
};

/** Requests the first quote, or another one, without waiting for the person to stop typing. */
const AskButton = ({ isFirst }: { readonly isFirst: boolean }): ReactNode =>
  isFirst ? (
    <Button type="submit" size="sm" className="-my-1">
      Get quote
    </Button>
  ) : (
    <IconButton type="submit" label="Refresh quote" className="-my-1 -mr-1.5">
      <RotateCw aria-hidden />
    </IconButton>
  );

const Minimum = ({ amount, symbol }: { amount: string; symbol: string }): ReactNode => (
  <AmountsShownProvider value>
    Minimum received{" "}
    <Amount value={amount} unit={symbol} plain className="block font-medium text-fg" />
  </AmountsShownProvider>
);

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

export const NetworkFee = ({ paidBy }: { readonly paidBy: readonly Payer[] }): ReactNode => (
  <span>{wordsFor(paidBy)}</span>
);
