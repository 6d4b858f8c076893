"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { dropBps, percentText } from "@/components/features/swap/decimal";
import { IMPACT_WORD } from "@/components/features/swap/quote-change";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { codeOf, extraOf } from "./api-error";
import type { Shortage } from "./spendable";
import type { Promised } from "./types";

interface PriceChangeProps {
  readonly seen: Promised;
  readonly fresh: Promised;
  readonly onAccept: () => void;
  readonly title?: string;
  readonly acceptLabel?: string;
}

export const PriceChange = ({
  seen,
  fresh,
  onAccept,
  title = "The rate changed",
  acceptLabel = "Accept the new rate",
}: PriceChangeProps): ReactNode => (
  <Alert
    tone="warning"
    title={title}
    actions={
      <Button size="sm" variant="primary" onClick={onAccept}>
        {acceptLabel}
      </Button>
    }
  >
    <table className="w-full max-w-md">
      <thead className="text-sm text-fg-2">
        <tr>
          <td />
          <th scope="col" className="text-right font-normal">
            You saw
          </th>
          <th scope="col" className="text-right font-normal">
            Now
          </th>
        </tr>
      </thead>
      <tbody>
        <ChangeRow
          label="Minimum received"
          before={seen.minAmount}
          after={fresh.minAmount}
          symbol={fresh.token.symbol}
        />
        <ChangeRow
          label="Expected"
          before={seen.amount}
          after={fresh.amount}
          symbol={fresh.token.symbol}
        />
      </tbody>
    </table>
    <p className="pt-1 text-sm">
      {fresh.token.symbol}, {percentText(dropBps(seen.amount, fresh.amount))} less expected.
    </p>
  </Alert>
);

interface ChangeRowProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  readonly symbol: string;
}

const ChangeRow = ({ label, before, after, symbol }: ChangeRowProps): ReactNode => (
  <tr>
    <th scope="row" className="text-left font-normal">
      {label}
    </th>
    <td className="pl-3 text-right text-fg-2">
      <Amount value={before} symbol={symbol} exact plain />
    </td>
    <td className="pl-3 text-right font-medium">
      <Amount value={after} symbol={symbol} exact plain />
    </td>
  </tr>
);

/**
 * Basis points that are added to the accepted price impact, because the price may move before the
 * next quote.
 */
const HEADROOM_BPS = 100;
const LIMIT_MAX_BPS = 10_000;

/** The price impact for which a quote was refused, in basis points; null for every other error. */
export const refusedImpact = (error: unknown): number | null => {
  if (codeOf(error) !== "price_impact_too_high") return null;
  const bps = extraOf(error, "priceImpactBps");
  return typeof bps === "number" ? bps : null;
};

interface AcceptedImpact<Body> {
  /**
   * The request, with the accepted limit if the person has accepted one for exactly this request.
   */
  readonly body: Body | null;
  readonly accept: (bps: number) => void;
}

/**
 * Adds the accepted price impact to the request. When the request changes, the usual limit applies
 * again.
 */
export const useAcceptedImpact = <Body extends object>(
  body: Body | null,
): AcceptedImpact<Body> => {
  const [accepted, setAccepted] = useState<{
    readonly key: string;
    readonly bps: number;
  } | null>(null);
  const key = JSON.stringify(body);
  const isSame = body !== null && accepted?.key === key;
  return {
    body: isSame ? { ...body, maxPriceImpactBps: accepted.bps } : body,
    accept: (bps) => setAccepted({ key, bps: Math.min(bps + HEADROOM_BPS, LIMIT_MAX_BPS) }),
  };
};

interface AcceptWordProps {
  /** Completes the label, which begins with `Type ACCEPT to`. */
  readonly purpose: string;
  readonly onChange: (isTyped: boolean) => void;
}

export const AcceptWord = ({ purpose, onChange }: AcceptWordProps): ReactNode => (
  <Field label={`Type ${IMPACT_WORD} to ${purpose}`} className="max-w-72">
    <Input
      onChange={(event) => onChange(event.target.value.trim() === IMPACT_WORD)}
      onKeyDown={(event) => {
        // Enter would submit the surrounding form, which requests another quote.
        if (event.key === "Enter") event.preventDefault();
      }}
    />
  </Field>
);

interface RefusedPriceProps {
  readonly bps: number;
  readonly onAccept: (bps: number) => void;
}

export const RefusedPrice = ({ bps, onAccept }: RefusedPriceProps): ReactNode => (
  <Alert
    tone="danger"
    title={`${percentText(bps)} less would arrive than the sent amount is worth.`}
  >
    <p>Nothing was sent. A smaller amount usually loses less.</p>
    <AcceptWord
      purpose="get the quote anyway"
      onChange={(isTyped) => {
        if (isTyped) onAccept(bps);
      }}
    />
  </Alert>
);

/**
 * Shown when the requested amount is above the available one, before any code is mailed. Shows the
 * missing amount and the next step.
 */
export const ShortageAlert = ({ shortage }: { readonly shortage: Shortage }): ReactNode => (
  <Alert
    tone="warning"
    title={
      <>
        You are short <Amount value={shortage.missing} unit={shortage.symbol} plain />
      </>
    }
  >
    <Amount value={shortage.spendable} unit={shortage.symbol} plain /> may be moved.
    {shortage.backing === null ? (
      <> Type less, wait for what is on its way, or add money to the wallet.</>
    ) : (
      <>
        {" "}
        <Amount value={shortage.backing} unit={shortage.symbol} plain /> must stay, because
        global accounts hold it. Type less, or{" "}
        <Link href="/accounts" className="link">
          take money back from an account
        </Link>
        .
      </>
    )}
  </Alert>
);

export const SHORTAGE_REASON = "More is asked for than may be moved.";
