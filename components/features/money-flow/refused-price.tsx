"use client";

import { useState, type ReactNode } from "react";
import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import { percentText } from "@/components/features/swap/decimal";
import { IMPACT_WORD } from "@/components/features/swap/quote-change";
import { Alert } from "@/components/ui/alert";
import { Field, Input } from "@/components/ui/field";

/** Room for the price to move between the refusal and the next quote. */
const HEADROOM_BPS = 100;
const LIMIT_MAX_BPS = 10_000;

/** The price impact for which a quote was refused, in basis points; null for every other error. */
export const refusedImpact = (error: unknown): number | null => {
  if (codeOf(error) !== "price_impact_too_high") return null;
  const bps = extraOf(error, "priceImpactBps");
  return typeof bps === "number" ? bps : null;
};

export interface AcceptedImpact<Body> {
  /** The request, with the limit that the person accepted for exactly this request. */
  readonly body: Body | null;
  readonly accept: (bps: number) => void;
}

/** Keeps the price impact that a person accepted. Another request is checked by the usual limit again. */
export const useAcceptedImpact = <Body extends object>(body: Body | null): AcceptedImpact<Body> => {
  const [accepted, setAccepted] = useState<{ readonly key: string; readonly bps: number } | null>(null);
  const key = JSON.stringify(body);
  const isSame = body !== null && accepted?.key === key;
  return {
    body: isSame ? { ...body, maxPriceImpactBps: accepted.bps } : body,
    accept: (bps) => setAccepted({ key, bps: Math.min(bps + HEADROOM_BPS, LIMIT_MAX_BPS) }),
  };
};

interface RefusedPriceProps {
  readonly bps: number;
  readonly onAccept: (bps: number) => void;
}

/** Says what the trade would cost, and asks for a typed word before the quote is asked for in spite of it. */
export const RefusedPrice = ({ bps, onAccept }: RefusedPriceProps): ReactNode => {
  const [typed, setTyped] = useState("");
  return (
    <Alert tone="danger" title={`${percentText(bps)} less would arrive than the sent amount is worth.`}>
      <p>Nothing was sent. A smaller amount usually loses less.</p>
      <Field label={`Type ${IMPACT_WORD} to get the quote anyway`} className="max-w-72">
        <Input
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            if (event.target.value.trim() === IMPACT_WORD) onAccept(bps);
          }}
          onKeyDown={(event) => {
            // Enter would send the form around this field.
            if (event.key === "Enter") event.preventDefault();
          }}
        />
      </Field>
    </Alert>
  );
};
