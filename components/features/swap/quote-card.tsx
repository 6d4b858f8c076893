"use client";

import { type ReactNode, useState } from "react";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { AcceptWord, PriceChange } from "@/components/features/money-flow/price-notices";
import {
  QuoteShell,
  type QuoteState,
  type ReviewProps,
} from "@/components/features/money-flow/quote-shell";
import { useFormQuote } from "@/components/features/money-flow/use-form-quote";
import { useApi } from "@/components/features/session/use-api";
import { WarningAlerts } from "@/components/features/warnings/warnings";
import { Alert } from "@/components/ui/alert";
import { Checkbox } from "@/components/ui/field";
import { createQuote } from "@/lib/api-client/calls.gen";
import { percentText } from "./decimal";
import { impactGate, impactOf, mustAccept, type SeenQuote } from "./quote-change";
import { QuoteFacts } from "./quote-facts";
import type { Quote, QuoteBody } from "./tokens";

interface QuoteCardProps extends ReviewProps<Quote> {
  readonly view: QuoteView;
  /** Whether the card shows the error of the request. False when its fields show the error. */
  readonly showError: boolean;
}

export const QuoteCard = (props: QuoteCardProps): ReactNode => {
  const { view, said, onReview, ...shell } = props;
  const { quote, seen } = view;
  const [confirmedId, setConfirmedId] = useState<string | null>(null);
  if (quote === null) return <QuoteShell {...shell} view={view} quote={null} />;
  const gateOf = (): string | null => {
    if (seen !== null) return "Accept the new rate first.";
    const isConfirmed = impactGate(impactOf(quote)) === "none" || confirmedId === quote.quoteId;
    return isConfirmed ? null : "Confirm the price impact first.";
  };
  return (
    <QuoteShell
      {...shell}
      view={view}
      quote={{
        expiresAt: quote.expiresAt,
        minimum: { amount: quote.to.minAmount, symbol: quote.to.token.symbol },
        picture: <QuotePicture quote={quote} />,
        facts: <QuoteFacts quote={quote} />,
      }}
      gate={gateOf()}
      onReview={() => onReview(quote)}
    >
      <WarningAlerts warnings={quote.warnings.filter(({ code }) => !said.has(code))} />
      {seen === null ? null : (
        <PriceChange seen={seen.to} fresh={quote.to} onAccept={view.accept} />
      )}
      <ImpactGate
        key={quote.quoteId}
        bps={impactOf(quote)}
        onChange={(ok) => setConfirmedId(ok ? quote.quoteId : null)}
      />
    </QuoteShell>
  );
};

interface ImpactGateProps {
  readonly bps: number;
  /** Called with whether the person accepts this price impact. */
  readonly onChange: (confirmed: boolean) => void;
}

/**
 * Asks before a trade with a high price impact. The quote's id must be its key, so that each quote
 * asks again.
 */
const ImpactGate = ({ bps, onChange }: ImpactGateProps): ReactNode => {
  const gate = impactGate(bps);
  if (gate === "none") return null;
  const percent = percentText(bps);
  const title = `This trade costs about ${percent} of its value.`;
  if (gate === "type")
    return (
      <Alert tone="danger" title={title}>
        <AcceptWord purpose="continue anyway" onChange={onChange} />
      </Alert>
    );
  return (
    <Alert tone="warning" title={title}>
      <Checkbox
        label={`I accept a price impact of ${percent}.`}
        onChange={(event) => onChange(event.target.checked)}
      />
    </Alert>
  );
};

interface QuoteView extends QuoteState {
  /** The newest quote. While the next quote is loaded, the previous one stays. */
  readonly quote: Quote | null;
  /** The quote that the person saw before `quote`, when `quote` is worse and not accepted yet. */
  readonly seen: Quote | null;
  readonly accept: () => void;
}

/** The quote of the form. A worse quote for the same request must be accepted. */
export const useQuote = (body: QuoteBody | null): QuoteView => {
  const api = useApi();
  const { fresh, ...view } = useFormQuote({
    contract: createQuote,
    body,
    send: (request: QuoteBody, signal) => api.call(createQuote, { body: request, signal }),
  });
  const [accepted, setAccepted] = useState<SeenQuote | null>(null);
  const isWorse = fresh !== null && mustAccept(accepted, fresh);
  if (fresh !== null && !isWorse && accepted?.quote !== fresh.quote) setAccepted(fresh);
  return {
    ...view,
    seen: isWorse ? (accepted?.quote ?? null) : null,
    accept: () => setAccepted(fresh),
  };
};
